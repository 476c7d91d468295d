-- Rounds in the order of opening, and decisions with the version of the document that was read: judgments of
-- an older version do not count beside those of the version in force.

CREATE TABLE rounds_in_sequence (
    round_id   TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('labeling', 'imported', 'audit', 'pilot', 'practice')),
    guide_hash TEXT NOT NULL,
    parameters JSON NOT NULL,
    opened_at  TIMESTAMP NOT NULL,
    sequence   INTEGER NOT NULL UNIQUE
);
INSERT INTO rounds_in_sequence SELECT *, row_number() OVER (ORDER BY opened_at, rowid) FROM rounds;

-- A reviewer read the text that had been judged last.
CREATE TABLE adjudications_of_versions (
    query_id    TEXT NOT NULL,
    document_id TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    grade       INTEGER,
    reason      TEXT NOT NULL,
    reviewer    TEXT NOT NULL,
    decided_at  TIMESTAMP NOT NULL,
    content_hash TEXT,
    guide_hash   TEXT,
    PRIMARY KEY (query_id, document_id, revision)
);
INSERT INTO adjudications_of_versions
SELECT a.*, v.content_hash, NULL
FROM adjudications a LEFT JOIN (
    SELECT a.query_id, a.document_id, a.revision,
           coalesce(
               arg_max(j.content_hash, j.submitted_at) FILTER (j.submitted_at <= a.decided_at),
               arg_min(j.content_hash, j.submitted_at)) AS content_hash
    FROM adjudications a JOIN current_judgments j USING (query_id, document_id) JOIN rounds r USING (round_id)
    WHERE j.duplicate_of IS NULL AND r.kind NOT IN ('pilot', 'practice')
    GROUP BY ALL) v USING (query_id, document_id, revision)
ORDER BY a.rowid;

DROP VIEW counted_judgments;
DROP VIEW current_judgments;
DROP VIEW presentation_states;
DROP VIEW current_adjudications;
DROP VIEW round_states;
DROP TABLE rounds;
ALTER TABLE rounds_in_sequence RENAME TO rounds;
DROP TABLE adjudications;
ALTER TABLE adjudications_of_versions RENAME TO adjudications;

CREATE VIEW round_states AS
SELECT r.* EXCLUDE (guide_hash), coalesce(e.guide_hash, r.guide_hash) AS guide_hash,
       coalesce(e.paused, false) AS paused, coalesce(e.closed, false) AS closed,
       CASE WHEN e.closed THEN e.closed_at END AS closed_at
FROM rounds r LEFT JOIN (
    SELECT round_id,
           arg_max(detail->>'guide', revision) FILTER (kind = 'guide') AS guide_hash,
           arg_max(kind, revision) FILTER (kind IN ('pause', 'resume')) = 'pause' AS paused,
           arg_max(kind, revision) FILTER (kind IN ('close', 'reopen')) = 'close' AS closed,
           arg_max(happened_at, revision) FILTER (kind = 'close') AS closed_at
    FROM round_events GROUP BY round_id) e USING (round_id);

CREATE VIEW presentation_states AS
SELECT presentation_id, revision + 1 AS next_revision, kind, grade, reason, note, flagged, guide_hash,
       submitted_at, kind IN ('grade', 'cannot_tell') AS answered, e.rowid AS written
FROM judgment_events e
WHERE NOT EXISTS (
    FROM judgment_events later
    WHERE later.presentation_id = e.presentation_id AND later.revision > e.revision);

CREATE VIEW current_judgments AS
SELECT p.*, s.* EXCLUDE (presentation_id, answered)
FROM presentations p JOIN presentation_states s USING (presentation_id)
WHERE s.answered;

CREATE VIEW eligible_judgments AS
SELECT j.*, r.sequence AS round_sequence,
       j.content_hash IN (
           SELECT s.content_hash FROM snapshot_documents s
           WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')) AS in_force
FROM current_judgments j JOIN rounds r USING (round_id)
WHERE j.duplicate_of IS NULL AND r.kind NOT IN ('pilot', 'practice')
  AND NOT EXISTS (
    FROM known_answers k
    WHERE k.round_id = j.round_id AND k.query_id = j.query_id AND k.document_id = j.document_id);

CREATE VIEW judged_versions AS
SELECT query_id, document_id,
       arg_max(content_hash, (in_force, round_sequence, written)) AS content_hash, bool_or(in_force) AS in_force
FROM eligible_judgments GROUP BY query_id, document_id;

CREATE VIEW counted_judgments AS
SELECT *, content_hash = first_value(content_hash) OVER pair AS same_text
FROM eligible_judgments
WINDOW pair AS (PARTITION BY query_id, document_id ORDER BY in_force DESC, round_sequence DESC, written DESC)
QUALIFY in_force = first_value(in_force) OVER pair AND row_number() OVER (
    PARTITION BY annotator, query_id, document_id ORDER BY in_force DESC, round_sequence DESC, written DESC) = 1;

CREATE VIEW current_adjudications AS
SELECT *, rowid AS written FROM adjudications
QUALIFY row_number() OVER (PARTITION BY query_id, document_id ORDER BY revision DESC) = 1;

CREATE VIEW counted_adjudications AS
SELECT a.* FROM current_adjudications a
WHERE NOT EXISTS (
    FROM eligible_judgments j
    WHERE j.query_id = a.query_id AND j.document_id = a.document_id
      AND j.in_force AND j.content_hash <> a.content_hash);
