-- Evaluators; each scoring of a run on sealed parts of a release, and what each of their queries got.

CREATE TABLE annotators_with_evaluators (
    name     TEXT PRIMARY KEY,
    role     TEXT NOT NULL CHECK (role IN ('annotator', 'reviewer', 'lead', 'evaluator')),
    imported BOOLEAN NOT NULL,
    added_at TIMESTAMP NOT NULL
);
INSERT INTO annotators_with_evaluators SELECT * FROM annotators ORDER BY rowid;
DROP TABLE annotators;
ALTER TABLE annotators_with_evaluators RENAME TO annotators;

CREATE TABLE looks (
    look_id    TEXT PRIMARY KEY,
    release_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    parts      TEXT[] NOT NULL,
    system     TEXT NOT NULL,
    run_sum    TEXT NOT NULL,
    asked      JSON NOT NULL,
    figures    JSON NOT NULL,
    reason     TEXT NOT NULL,
    looked_by  TEXT NOT NULL,
    looked_at  TIMESTAMP NOT NULL
);

CREATE TABLE look_queries (
    look_id  TEXT NOT NULL,
    query_id TEXT NOT NULL,
    list_sum UBIGINT,
    value    DOUBLE
);
