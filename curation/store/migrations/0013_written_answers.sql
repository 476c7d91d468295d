-- Reference answers that people write: tasks, who writes for which query, what they wrote, what was decided.

CREATE TABLE answer_tasks (
    task_id    TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    parameters JSON NOT NULL,
    opened_at  TIMESTAMP NOT NULL,
    sequence   INTEGER NOT NULL UNIQUE
);
CREATE TABLE answer_task_events (
    task_id     TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('close', 'reopen')),
    author      TEXT NOT NULL,
    happened_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task_id, revision)
);
CREATE VIEW answer_task_states AS
SELECT t.*, coalesce(e.kind = 'close', false) AS closed
FROM answer_tasks t LEFT JOIN (
    SELECT task_id, arg_max(kind, revision) AS kind FROM answer_task_events GROUP BY task_id) e USING (task_id);
CREATE TABLE answer_task_queries (
    task_id           TEXT NOT NULL,
    query_id          TEXT NOT NULL,
    earlier_reference INTEGER,
    PRIMARY KEY (task_id, query_id)
);
CREATE TABLE answer_evidence (
    task_id      TEXT NOT NULL,
    query_id     TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL
);
CREATE TABLE answer_assignments (
    assignment_id TEXT PRIMARY KEY,
    task_id       TEXT NOT NULL,
    query_id      TEXT NOT NULL,
    writer        TEXT NOT NULL,
    position      INTEGER NOT NULL
);
CREATE TABLE answer_events (
    assignment_id TEXT NOT NULL,
    revision      INTEGER NOT NULL CHECK (revision >= 0),
    kind          TEXT NOT NULL CHECK (kind IN ('answer', 'unanswerable', 'retract')),
    answer        TEXT,
    documents     TEXT[] NOT NULL,
    late          BOOLEAN NOT NULL,
    written_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (assignment_id, revision),
    CHECK ((kind = 'answer') = (answer IS NOT NULL))
);
CREATE VIEW answer_states AS
SELECT *, kind <> 'retract' AS answered, rowid AS written FROM answer_events
QUALIFY row_number() OVER (PARTITION BY assignment_id ORDER BY revision DESC) = 1;
CREATE TABLE answer_drafts (
    assignment_id TEXT NOT NULL,
    revision      INTEGER NOT NULL,
    number        INTEGER NOT NULL,
    documents     TEXT[] NOT NULL,
    PRIMARY KEY (assignment_id, revision, number)
);
CREATE TABLE answer_decisions (
    task_id    TEXT NOT NULL,
    query_id   TEXT NOT NULL,
    revision   INTEGER NOT NULL CHECK (revision >= 0),
    answers    TEXT[] NOT NULL,
    merged     TEXT,
    reason     TEXT NOT NULL,
    reviewer   TEXT NOT NULL,
    decided_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task_id, query_id, revision)
);
CREATE VIEW current_answer_decisions AS
SELECT *, rowid AS written FROM answer_decisions
QUALIFY row_number() OVER (PARTITION BY task_id, query_id ORDER BY revision DESC) = 1;

DROP VIEW current_reference_answers;
CREATE VIEW current_reference_answers AS
SELECT * FROM (
    SELECT * FROM reference_answers
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1)
WHERE len(answers) > 0;
