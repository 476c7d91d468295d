-- Evaluations that were made on the page Evaluate, whole, as the report shows them.

CREATE TABLE evaluations (
    evaluation_id TEXT PRIMARY KEY,
    release_id    TEXT NOT NULL,
    name          TEXT NOT NULL,
    parts         TEXT[] NOT NULL,
    sealed        TEXT[] NOT NULL,
    systems       TEXT[] NOT NULL,
    result        JSON NOT NULL,
    page          JSON NOT NULL,
    author        TEXT NOT NULL,
    made_at       TIMESTAMP NOT NULL
);
