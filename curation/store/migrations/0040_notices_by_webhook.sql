-- Notices go to a webhook alone, and a notice keeps its last attempt itself.

ALTER TABLE notices ADD COLUMN attempts INTEGER DEFAULT 0;
ALTER TABLE notices ADD COLUMN tried_at TIMESTAMP;          -- when the last attempt began
ALTER TABLE notices ADD COLUMN problem TEXT;                -- of the last attempt: '' where it was sent, NULL where
                                                            -- its process ended first, so that nobody knows
ALTER TABLE notices ADD COLUMN again BOOLEAN DEFAULT TRUE;  -- whether another attempt may be made
UPDATE notices SET attempts = tried.attempts, tried_at = tried.began_at, problem = tried.problem, again = FALSE
FROM (
    SELECT a.notice_id, max(a.attempt) AS attempts, max(a.began_at) AS began_at,
           arg_max(coalesce(o.problem, 'the app ended meanwhile'), a.began_at) AS problem
    FROM notice_attempts a LEFT JOIN notice_outcomes o USING (notice_id, channel, attempt) GROUP BY a.notice_id
) tried
WHERE tried.notice_id = notices.notice_id;
DROP TABLE notice_outcomes;
DROP TABLE notice_attempts;
