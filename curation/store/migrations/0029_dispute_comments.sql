-- What reviewers and leads say to each other about a judged pair. Appended, never changed; no annotator reads it.

CREATE TABLE dispute_comments (
    client_key   TEXT PRIMARY KEY,   -- of the action: what is sent again is written once
    query_id     TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    words        TEXT NOT NULL,
    author       TEXT NOT NULL,
    commented_at TIMESTAMP NOT NULL
);
