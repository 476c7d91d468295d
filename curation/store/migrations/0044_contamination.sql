-- Texts of a query that occur in a file on which a model was trained or tuned. A query whose text does not occur
-- has a row with the similarity 0, so that a query without a row was not compared.
CREATE TABLE contamination (
    query_id    TEXT NOT NULL,
    file        TEXT NOT NULL,    -- name, without its folder
    file_hash   TEXT NOT NULL,
    what        TEXT NOT NULL CHECK (what IN ('query', 'answer', 'document')),
    document_id TEXT,             -- NULL: the query or its answer
    similarity  DOUBLE NOT NULL,  -- 1: exactly
    author      TEXT NOT NULL,
    checked_at  TIMESTAMP NOT NULL
);
CREATE VIEW current_contamination AS
SELECT * FROM contamination
QUALIFY checked_at = max(checked_at) OVER (PARTITION BY query_id, file_hash);
