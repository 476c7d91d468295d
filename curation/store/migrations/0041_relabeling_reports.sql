-- What the report of a closed quarter is computed from, as it was at closing: pairs with both grades and what was
-- not the same, the scale, and the estimate pooled over a year.
CREATE TABLE relabeling_reports (
    plan_id  TEXT NOT NULL,
    reopened INTEGER NOT NULL,  -- how often the round had been reopened: after another time it counts no more
    inputs   JSON NOT NULL,
    PRIMARY KEY (plan_id, reopened)
);
