-- The first documents of runs that were evaluated on the page, so that two lists of one query can be read side
-- by side. Of a sealed part there are none.

CREATE TABLE evaluation_lists (
    evaluation_id TEXT NOT NULL,
    system        TEXT NOT NULL,
    query_id      TEXT NOT NULL,
    rank          INTEGER NOT NULL, -- from 1
    document_id   TEXT NOT NULL
);
