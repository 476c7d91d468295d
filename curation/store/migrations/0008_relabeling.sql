-- Re-labeling by quarters: plans, what they draw, their rounds, and queries that left the set.

CREATE TABLE relabeling_plans (
    plan_id    TEXT PRIMARY KEY,
    quarter    TEXT NOT NULL,      -- '2026-Q4'
    parameters JSON NOT NULL,      -- fraction, seed and shares of the parts
    report     JSON NOT NULL,      -- counts, strata, pace and hours, as they were shown
    planned_at TIMESTAMP NOT NULL
);
CREATE TABLE relabeling_pairs (
    plan_id      TEXT NOT NULL,
    query_id     TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    part         TEXT NOT NULL CHECK (part IN ('random', 'due', 'stale', 'control')),
    stratum      TEXT NOT NULL,    -- type and quarter of the last judgment: what the random part is drawn by
    inclusion_probability DOUBLE,  -- of the random part; none: not drawn at random
    grade        INTEGER,          -- none: disputed or unjudgeable
    how          TEXT NOT NULL,
    content_hash TEXT,             -- the version that was judged; none: not known
    guide_hash   TEXT,             -- the guide it was judged under; none: not known
    annotators   TEXT[] NOT NULL,  -- who judged it
    judged       TEXT,             -- the quarter it was judged in; none: not known
    decisions    INTEGER NOT NULL, -- revisions of the reviewer's decisions that there were
    PRIMARY KEY (plan_id, query_id, document_id)
);
CREATE TABLE relabeling_queries (
    plan_id    TEXT NOT NULL,
    normalised TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('retire', 'add')),
    reason     TEXT NOT NULL,
    stratum    TEXT,               -- of those who join, as the sample calls it
    traffic    BIGINT,             -- times it was asked in the new logs
    inclusion_probability DOUBLE,
    PRIMARY KEY (plan_id, normalised)
);
CREATE TABLE relabeling_rounds (
    plan_id  TEXT PRIMARY KEY,
    round_id TEXT NOT NULL UNIQUE,
    quarter  TEXT NOT NULL UNIQUE
);

CREATE TABLE query_retirements (
    query_id   TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    retired    BOOLEAN NOT NULL,
    reason     TEXT NOT NULL,
    author     TEXT NOT NULL,
    retired_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, revision)
);
CREATE VIEW retired_queries AS
SELECT query_id, reason FROM (
    SELECT * FROM query_retirements
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1)
WHERE retired;

CREATE VIEW relabeling_progress AS
SELECT b.plan_id, b.quarter, r.round_id, r.sequence, a.query_id, a.document_id, a.content_hash, a.decisions,
       bool_and(coalesce(s.answered, false)) AS whole
FROM relabeling_rounds b JOIN rounds r USING (round_id) JOIN relabeling_pairs a USING (plan_id)
JOIN live_presentations p
  ON p.round_id = r.round_id AND p.query_id = a.query_id AND p.document_id = a.document_id
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.duplicate_of IS NULL
  AND NOT EXISTS (FROM opinion_requests o WHERE o.presentation_id = p.presentation_id)
GROUP BY ALL;

DROP VIEW counted_adjudications;
DROP VIEW eligible_judgments;

CREATE VIEW eligible_judgments AS
SELECT j.*, r.sequence AS round_sequence,
       j.content_hash IN (
           SELECT s.content_hash FROM snapshot_documents s
           WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')) AS in_force
FROM current_judgments j JOIN rounds r USING (round_id)
WHERE j.duplicate_of IS NULL AND r.kind NOT IN ('pilot', 'practice')
  AND NOT EXISTS (
    FROM known_answers k
    WHERE k.round_id = j.round_id AND k.query_id = j.query_id AND k.document_id = j.document_id)
  AND NOT EXISTS (
    FROM relabeling_progress n
    WHERE n.query_id = j.query_id AND n.document_id = j.document_id
      AND CASE WHEN n.whole THEN n.sequence > r.sequence
               ELSE n.round_id = j.round_id AND n.content_hash = j.content_hash END);

CREATE VIEW counted_adjudications AS
SELECT a.* FROM current_adjudications a
WHERE NOT EXISTS (
    FROM eligible_judgments j
    WHERE j.query_id = a.query_id AND j.document_id = a.document_id
      AND j.in_force AND j.content_hash <> a.content_hash)
  AND NOT EXISTS (
    FROM relabeling_progress n
    WHERE n.query_id = a.query_id AND n.document_id = a.document_id AND n.whole AND n.decisions > a.revision);
