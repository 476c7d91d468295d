-- Judgments that were imported without a time, which until now had the time of the import as if it were theirs,
-- a microsecond apart in the order of the file.

ALTER TABLE judgment_events ADD COLUMN time_known BOOLEAN DEFAULT true;

UPDATE judgment_events SET time_known = false
WHERE (presentation_id, revision) IN (
    SELECT (presentation_id, revision) FROM (
        SELECT presentation_id, revision, submitted_at - lag(submitted_at) OVER file AS before,
               lead(submitted_at) OVER file - submitted_at AS after
        FROM judgment_events WHERE shown_at IS NULL AND active_ms IS NULL
        WINDOW file AS (PARTITION BY author ORDER BY submitted_at, presentation_id, revision))
    WHERE before = INTERVAL 1 MICROSECOND OR after = INTERVAL 1 MICROSECOND);
