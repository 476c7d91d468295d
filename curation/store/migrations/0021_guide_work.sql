-- A guide keeps its whole text, leads write the next one as a draft, and questions about it are answered.

CREATE TABLE guide_sources (
    guide_hash TEXT PRIMARY KEY,
    source     TEXT NOT NULL
);

CREATE TABLE guide_drafts (
    author       TEXT NOT NULL,
    revision     INTEGER NOT NULL,
    source       TEXT,
    started_from TEXT NOT NULL,
    saved_at     TIMESTAMP NOT NULL,
    UNIQUE (author, revision)
);

ALTER TABLE guide_questions ALTER query_id DROP NOT NULL;
ALTER TABLE guide_questions ALTER document_id DROP NOT NULL;

CREATE TABLE guide_answers (
    question_id TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    words       TEXT NOT NULL,
    everyone    BOOLEAN NOT NULL,
    author      TEXT NOT NULL,
    answered_at TIMESTAMP NOT NULL,
    UNIQUE (question_id, revision)
);
