-- Who had the grades of a release's sealed parts, when, for what and why.

CREATE TABLE seal_openings (
    release_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    parts      TEXT[] NOT NULL,
    purpose    TEXT NOT NULL,
    reason     TEXT NOT NULL,
    opened_by  TEXT NOT NULL,
    opened_at  TIMESTAMP NOT NULL
);
