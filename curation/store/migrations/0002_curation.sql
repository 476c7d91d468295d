-- Query tags, fields of logs, kept word counts, matched passages, kinds of rounds, long work in the app.

ALTER TABLE traffic ADD COLUMN metadata JSON;
ALTER TABLE candidate_sources ADD COLUMN passage_start INTEGER;
ALTER TABLE candidate_sources ADD COLUMN passage_end INTEGER;

CREATE TABLE query_tags (
    query_id  TEXT NOT NULL,
    tag       TEXT NOT NULL,
    revision  INTEGER NOT NULL,
    present   BOOLEAN NOT NULL,
    by_person BOOLEAN NOT NULL,
    author    TEXT NOT NULL,
    tagged_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, tag, revision)
);

CREATE VIEW current_query_tags AS
SELECT query_id, tag, by_person, author FROM (
    SELECT * FROM query_tags
    QUALIFY row_number() OVER (PARTITION BY query_id, tag ORDER BY by_person DESC, revision DESC) = 1)
WHERE present;

CREATE TABLE document_terms (
    counter      TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    terms        TEXT[] NOT NULL,
    counts       INTEGER[] NOT NULL
);

CREATE TABLE jobs (
    job_id     TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    parameters JSON NOT NULL,
    started_by TEXT NOT NULL,
    started_at TIMESTAMP NOT NULL
);

CREATE TABLE job_endings (
    job_id   TEXT PRIMARY KEY,
    outcome  TEXT NOT NULL CHECK (outcome IN ('done', 'refused', 'failed', 'stopped')),
    message  TEXT NOT NULL,
    ended_at TIMESTAMP NOT NULL
);


-- A CHECK cannot be changed in place.
CREATE TABLE rounds_with_kinds (
    round_id   TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('labeling', 'imported', 'audit', 'pilot', 'practice')),
    guide_hash TEXT NOT NULL,
    parameters JSON NOT NULL,
    opened_at  TIMESTAMP NOT NULL
);
INSERT INTO rounds_with_kinds SELECT * FROM rounds;
DROP TABLE rounds;
ALTER TABLE rounds_with_kinds RENAME TO rounds;
