-- What a look sees of a run's lists, each apart: the documents down to a measure's depth, and the scores. What
-- was stored of runs before covered all of it at once, so these lists are compared with no later ones; answers
-- are as they were. Values of queries name the measure that they are of. The log says how plausible lists were.

ALTER TABLE looks ADD COLUMN unknown DOUBLE;   -- share of the seen documents that the corpus does not have; NULL: not counted
ALTER TABLE looks ADD COLUMN unseen DOUBLE;    -- share of them that no pool and no run of the project has; NULL: no pool
ALTER TABLE looks ADD COLUMN overlap DOUBLE;   -- share of the queries whose list is that of the most similar earlier look

-- A query has no row of a list where the run has nothing for it. Never shown to anybody.
CREATE TABLE look_lists (
    look_id  TEXT NOT NULL,
    seen     TEXT NOT NULL,        -- 'first 10', 'whole', 'scores', 'answers'; before 0024 'all at once'
    query_id TEXT NOT NULL,
    list_sum UBIGINT NOT NULL      -- hash of that
);
INSERT INTO look_lists
SELECT look_id, CASE WHEN asked->>'answers' = 'true' THEN 'answers' ELSE 'all at once' END, query_id, list_sum
FROM look_queries JOIN looks USING (look_id) WHERE list_sum IS NOT NULL
ORDER BY look_queries.rowid;

ALTER TABLE look_queries DROP COLUMN list_sum;
-- The measure of the value: the first one of the look, and that of the part's Ladder.
ALTER TABLE look_queries ADD COLUMN scored_by TEXT;
UPDATE look_queries SET scored_by = (
    SELECT (asked->'measures')->>0 || CASE
        WHEN asked->>'answers' = 'true' OR (asked->'measures')->>0 SIMILAR TO '(ndcg|judged).*' THEN ''
        ELSE ', relevant from ' || (asked->>'relevant') END
    FROM looks WHERE looks.look_id = look_queries.look_id
);
