-- A language model writes questions for any document, so a query may be written without a coverage map.
ALTER TABLE coverage_queries ALTER map_id DROP NOT NULL;
ALTER TABLE coverage_queries ALTER cluster DROP NOT NULL;
-- Questions of a language model that failed a check, so that nobody pays for their check again.
CREATE TABLE rejected_questions (
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    kind         TEXT NOT NULL,
    text         TEXT NOT NULL,
    reason       TEXT NOT NULL,
    model        TEXT NOT NULL,    -- that wrote it
    checked_by   TEXT NOT NULL,    -- the model that checks
    rejected_at  TIMESTAMP NOT NULL
);
