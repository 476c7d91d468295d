-- The first chunks of runs that were evaluated on the page, where evidence was measured; of a run of documents
-- these are whole documents. Of a sealed part there are none.

CREATE TABLE evaluation_chunks (
    evaluation_id TEXT NOT NULL,
    system        TEXT NOT NULL,
    query_id      TEXT NOT NULL,
    rank          INTEGER NOT NULL, -- from 1
    document_id   TEXT NOT NULL,
    start_at      BIGINT NOT NULL,  -- in characters of the body of the release's version
    end_at        BIGINT NOT NULL,
    words         BIGINT NOT NULL   -- below 0: not known
);
