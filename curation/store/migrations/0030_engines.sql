-- Search engines that are asked over HTTP, what they answered, and the runs that came of it. No address, no key.

CREATE TABLE engines (
    name     TEXT NOT NULL,
    revision INTEGER NOT NULL,     -- the highest counts
    kind     TEXT NOT NULL,
    template TEXT NOT NULL,        -- JSON: requests, and paths in their answers
    author   TEXT NOT NULL,
    added_at TIMESTAMP NOT NULL,
    PRIMARY KEY (name, revision)
);
-- What an engine answered, stored as it comes: a run that broke off goes on from here.
CREATE TABLE engine_answers (
    answer_id    TEXT PRIMARY KEY, -- hash of what was asked for, the attempt and the text that was sent
    request_id   TEXT NOT NULL,    -- of a run or a draw: hash of its name, template and depth
    attempt      INTEGER NOT NULL, -- from 1; later ones say how far the engine repeats itself
    query_id     TEXT NOT NULL,
    document_ids TEXT[] NOT NULL,  -- best first
    scores       DOUBLE[],         -- NULL: the engine gives none
    seconds      DOUBLE NOT NULL,
    left_out     TEXT NOT NULL,    -- why it has no list, as failed shards; '' where it has
    asked_at     TIMESTAMP NOT NULL
);
CREATE TABLE engine_runs (
    run_id     TEXT PRIMARY KEY,
    engine     TEXT NOT NULL,
    request_id TEXT NOT NULL,      -- its answers: times and seconds a query
    template   TEXT NOT NULL,
    depth      INTEGER NOT NULL
);
-- Documents that an engine brought. Where it brought all of the corpus, the setting 'held' is the snapshot.
CREATE TABLE engine_documents (
    engine      TEXT NOT NULL,
    document_id TEXT NOT NULL,
    PRIMARY KEY (engine, document_id)
);
