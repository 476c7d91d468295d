-- Filling gaps of coverage: names of clusters, query-writing tasks, and where written queries come from.

CREATE TABLE queries_with_synthetic (
    query_id         TEXT PRIMARY KEY,
    text             TEXT NOT NULL,
    normalised       TEXT NOT NULL,
    source           TEXT NOT NULL CHECK (source IN ('traffic', 'imported', 'written', 'synthetic')),
    information_need TEXT,
    metadata         JSON NOT NULL
);
INSERT INTO queries_with_synthetic SELECT * FROM queries ORDER BY rowid;
DROP TABLE queries;
ALTER TABLE queries_with_synthetic RENAME TO queries;

CREATE TABLE cluster_names (
    map_id   TEXT NOT NULL,
    number   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    name     TEXT NOT NULL,
    author   TEXT NOT NULL,
    named_at TIMESTAMP NOT NULL,
    PRIMARY KEY (map_id, number, revision)
);

CREATE TABLE writing_batches (
    batch_id  TEXT PRIMARY KEY,
    kind      TEXT NOT NULL CHECK (kind IN ('gap', 'unanswerable')),
    map_id    TEXT NOT NULL,
    queries   INTEGER NOT NULL,
    writers   TEXT[] NOT NULL,
    seed      BIGINT NOT NULL,
    author    TEXT NOT NULL,
    opened_at TIMESTAMP NOT NULL
);
CREATE TABLE writing_tasks (
    task_id      TEXT PRIMARY KEY,
    batch_id     TEXT NOT NULL,
    position     INTEGER NOT NULL,
    writer       TEXT NOT NULL,
    cluster      INTEGER NOT NULL,
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    style        TEXT NOT NULL,
    UNIQUE (batch_id, position)
);
CREATE TABLE writing_endings (
    task_id  TEXT PRIMARY KEY,
    outcome  TEXT NOT NULL CHECK (outcome IN ('written', 'passed')),
    query_id TEXT,
    ended_at TIMESTAMP NOT NULL
);

CREATE TABLE coverage_queries (
    query_id     TEXT PRIMARY KEY,
    purpose      TEXT NOT NULL CHECK (purpose IN ('gap', 'unanswerable')),
    writer       TEXT NOT NULL,
    map_id       TEXT NOT NULL,
    cluster      INTEGER NOT NULL,
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    style        TEXT NOT NULL,
    detail       JSON NOT NULL,
    written_at   TIMESTAMP NOT NULL
);
