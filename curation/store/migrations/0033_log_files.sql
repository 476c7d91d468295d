-- A log of several files, in a folder or a storage: what was read of it, each time as an import of its own.
CREATE TABLE traffic_files (
    import_id TEXT NOT NULL,
    log_id    TEXT NOT NULL,    -- hash of the place, and of how its files are read and cleaned
    reading   INTEGER NOT NULL, -- which import of the log it was, from 1
    name      TEXT NOT NULL,    -- within the place
    size      BIGINT NOT NULL,
    version   TEXT NOT NULL,    -- SHA-256, or the storage's ETag
    fields    JSON NOT NULL     -- field → column
);
-- Rows of such logs that other rows leave out: a later file may bring them back, or leave out more of a session.
CREATE TABLE traffic_set_aside (
    import_id  TEXT NOT NULL,
    line       BIGINT NOT NULL,
    text       TEXT NOT NULL,
    normalised TEXT NOT NULL,
    time       TIMESTAMP,
    segment    TEXT,
    session    TEXT,
    count      BIGINT NOT NULL,
    metadata   JSON,
    reason     TEXT NOT NULL    -- as in traffic_imports.left_out
);
