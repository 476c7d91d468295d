-- The text of a release's part is kept in packed pieces: as one value it took much memory to read and to write.
-- `release_parts.pack_whole_parts` carries the texts over.

ALTER TABLE release_parts RENAME TO whole_release_parts;

CREATE TABLE release_parts (
    release_id TEXT NOT NULL,
    part       TEXT NOT NULL,
    place      INTEGER NOT NULL,
    content    BLOB NOT NULL,
    PRIMARY KEY (release_id, part, place)
);
