-- Corpora that stay in their files: what a snapshot was read from, and where each document is. No text, no key.
CREATE TABLE left_files (
    file_id    TEXT PRIMARY KEY,   -- hash of address, version, and how it was read
    location   TEXT NOT NULL,      -- a folder, a file, or an address such as s3://bucket/pages
    name       TEXT NOT NULL,      -- within the location; '' where that is the file
    bytes      BIGINT NOT NULL,
    version    TEXT NOT NULL,      -- SHA-256, or the storage's ETag
    sum        TEXT NOT NULL,      -- SHA-256
    reading    TEXT NOT NULL,      -- JSON: format, encoding, and which field is which
    row_groups INTEGER[] NOT NULL, -- rows of each; of a file without, none
    documents  INTEGER NOT NULL
);
CREATE TABLE left_documents (
    file_id      TEXT NOT NULL,
    row          INTEGER NOT NULL, -- of its record in the file, from 0
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL
);
CREATE TABLE left_snapshots (      -- the manifest of a snapshot; the last import of a version is the one read
    snapshot_id TEXT NOT NULL,
    file_id     TEXT NOT NULL,
    imported_at TIMESTAMP NOT NULL
);
