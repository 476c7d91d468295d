-- What a language model answered, and which of the queries that it wrote people judge.

CREATE TABLE model_answers (
    call_id        TEXT NOT NULL,
    attempt        INTEGER NOT NULL CHECK (attempt >= 0),
    model          TEXT NOT NULL,
    prompt_hash    TEXT NOT NULL,
    kind           TEXT NOT NULL CHECK (kind IN ('answer', 'refusal', 'malformed', 'rejected')),
    text           TEXT NOT NULL,
    tokens_read    BIGINT,
    tokens_written BIGINT,
    answered_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (call_id, attempt)
);

CREATE TABLE synthetic_draws (
    query_id TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    drawn    BOOLEAN NOT NULL,
    share    DOUBLE NOT NULL CHECK (share > 0 AND share <= 1),
    seed     BIGINT NOT NULL,
    author   TEXT NOT NULL,
    drawn_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, revision)
);
CREATE VIEW withheld_queries AS
SELECT query_id FROM (
    SELECT * FROM synthetic_draws
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1)
WHERE NOT drawn;
