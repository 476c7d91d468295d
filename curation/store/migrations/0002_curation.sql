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

CREATE TABLE passages (
    cutter    TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    starts    INTEGER[] NOT NULL,
    ends      INTEGER[] NOT NULL
);

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

-- Sessions: what becomes of rounds, known answers, moved showings, answers about queries, reviewers' wishes.

ALTER TABLE judgment_events ADD COLUMN late BOOLEAN DEFAULT false;

CREATE TABLE identities (
    email     TEXT PRIMARY KEY,
    annotator TEXT NOT NULL,
    added_at  TIMESTAMP NOT NULL
);

CREATE TABLE round_events (
    round_id    TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('pause', 'resume', 'close', 'reopen', 'extend', 'reassign', 'guide')),
    detail      JSON NOT NULL,
    author      TEXT NOT NULL,
    happened_at TIMESTAMP NOT NULL,
    PRIMARY KEY (round_id, revision)
);

CREATE VIEW round_states AS
SELECT r.* EXCLUDE (guide_hash), coalesce(e.guide_hash, r.guide_hash) AS guide_hash,
       coalesce(e.paused, false) AS paused, coalesce(e.closed, false) AS closed,
       CASE WHEN e.closed THEN e.closed_at END AS closed_at
FROM rounds r LEFT JOIN (
    SELECT round_id,
           arg_max(detail->>'guide', revision) FILTER (kind = 'guide') AS guide_hash,
           arg_max(kind, revision) FILTER (kind IN ('pause', 'resume')) = 'pause' AS paused,
           arg_max(kind, revision) FILTER (kind IN ('close', 'reopen')) = 'close' AS closed,
           max(happened_at) FILTER (kind = 'close') AS closed_at
    FROM round_events GROUP BY round_id) e USING (round_id);

CREATE TABLE known_answers (
    round_id    TEXT NOT NULL,
    query_id    TEXT NOT NULL,
    document_id TEXT NOT NULL,
    grade       INTEGER NOT NULL,
    explanation TEXT,
    PRIMARY KEY (round_id, query_id, document_id)
);

CREATE TABLE withdrawals (
    presentation_id TEXT PRIMARY KEY,
    reason          TEXT NOT NULL,
    author          TEXT NOT NULL,
    withdrawn_at    TIMESTAMP NOT NULL
);

CREATE VIEW live_presentations AS
FROM presentations p WHERE NOT EXISTS (FROM withdrawals w WHERE w.presentation_id = p.presentation_id);

CREATE TABLE query_answers (
    round_id    TEXT NOT NULL,
    annotator   TEXT NOT NULL,
    query_id    TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    answer      TEXT NOT NULL CHECK (answer IN ('yes', 'partly', 'no')),
    client_key  TEXT NOT NULL UNIQUE,
    answered_at TIMESTAMP NOT NULL,
    PRIMARY KEY (round_id, annotator, query_id, revision)
);

CREATE VIEW current_query_answers AS
SELECT * FROM query_answers
QUALIFY row_number() OVER (PARTITION BY round_id, annotator, query_id ORDER BY revision DESC) = 1;

CREATE TABLE opinion_requests (
    presentation_id TEXT PRIMARY KEY,
    query_id        TEXT NOT NULL,
    document_id     TEXT NOT NULL,
    reviewer        TEXT NOT NULL,
    asked_at        TIMESTAMP NOT NULL
);

CREATE TABLE guide_questions (
    question_id TEXT PRIMARY KEY,
    guide_hash  TEXT NOT NULL,
    query_id    TEXT NOT NULL,
    document_id TEXT NOT NULL,
    words       TEXT NOT NULL,
    author      TEXT NOT NULL,
    asked_at    TIMESTAMP NOT NULL
);

DROP VIEW counted_judgments;
CREATE VIEW counted_judgments AS
SELECT j.*
FROM current_judgments j JOIN rounds r USING (round_id)
WHERE j.duplicate_of IS NULL AND r.kind NOT IN ('pilot', 'practice')
  AND NOT EXISTS (
    FROM known_answers k
    WHERE k.round_id = j.round_id AND k.query_id = j.query_id AND k.document_id = j.document_id)
QUALIFY row_number() OVER (
    PARTITION BY j.annotator, j.query_id, j.document_id ORDER BY r.opened_at DESC, r.round_id) = 1;
