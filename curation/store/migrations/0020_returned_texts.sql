-- A text that comes back has its own grade: a re-labeling of another version does not take the place of the votes
-- and decisions about the version in force.

DROP VIEW counted_adjudications;
DROP VIEW eligible_judgments;
DROP VIEW relabeling_progress;

CREATE VIEW relabeling_progress AS
SELECT b.plan_id, b.quarter, r.round_id, r.sequence, a.query_id, a.document_id, a.content_hash, a.decisions,
       list(DISTINCT p.content_hash ORDER BY p.content_hash) AS shown,
       bool_and(coalesce(s.answered, false)) AS whole
FROM relabeling_rounds b JOIN rounds r USING (round_id) JOIN relabeling_pairs a USING (plan_id)
JOIN live_presentations p
  ON p.round_id = r.round_id AND p.query_id = a.query_id AND p.document_id = a.document_id
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.duplicate_of IS NULL
  AND NOT EXISTS (FROM opinion_requests o WHERE o.presentation_id = p.presentation_id)
GROUP BY ALL;

CREATE VIEW eligible_judgments AS
SELECT j.* FROM (
    SELECT c.*, r.sequence AS round_sequence,
           c.content_hash IN (
               SELECT s.content_hash FROM snapshot_documents s
               WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')) AS in_force
    FROM current_judgments c JOIN rounds r USING (round_id)
    WHERE c.duplicate_of IS NULL AND r.kind NOT IN ('pilot', 'practice')) j
WHERE NOT EXISTS (
    FROM known_answers k
    WHERE k.round_id = j.round_id AND k.query_id = j.query_id AND k.document_id = j.document_id)
  AND NOT EXISTS (
    FROM relabeling_progress n
    WHERE n.query_id = j.query_id AND n.document_id = j.document_id
      AND CASE WHEN n.whole THEN n.sequence > j.round_sequence
                    AND (NOT j.in_force OR list_contains(n.shown, j.content_hash))
               ELSE n.round_id = j.round_id AND n.content_hash = j.content_hash END);

CREATE VIEW counted_adjudications AS
SELECT a.* EXCLUDE (in_force) FROM (
    SELECT *, rowid AS written,
           content_hash IS NULL OR content_hash IN (
               SELECT s.content_hash FROM snapshot_documents s
               WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')) AS in_force
    FROM adjudications
    QUALIFY content_hash IS NOT NULL OR row_number() OVER (
        PARTITION BY query_id, document_id ORDER BY revision DESC) = 1) a
WHERE NOT EXISTS (
    FROM eligible_judgments j
    WHERE j.query_id = a.query_id AND j.document_id = a.document_id
      AND j.in_force AND j.content_hash <> a.content_hash)
  AND NOT EXISTS (
    FROM relabeling_progress n
    WHERE n.query_id = a.query_id AND n.document_id = a.document_id AND n.whole AND n.decisions > a.revision
      AND (NOT a.in_force OR a.content_hash IS NULL OR list_contains(n.shown, a.content_hash)))
QUALIFY row_number() OVER (
    PARTITION BY query_id, document_id ORDER BY in_force DESC, revision DESC) = 1;
