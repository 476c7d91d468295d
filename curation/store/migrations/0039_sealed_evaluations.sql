-- One log of evaluations on sealed parts, refused requests included. The hashes of lists, the shares of unknown
-- and unseen documents and the values by the measure of a part's Ladder go: nothing compares runs with them.
-- Values of queries stay by the first measure of each evaluation: the leaderboard of leads tests pairs by them.

CREATE TABLE sealed_evaluations (
    evaluation_id TEXT PRIMARY KEY,
    release_id    TEXT NOT NULL,
    name          TEXT NOT NULL,      -- the release's name that was asked for
    parts         TEXT[] NOT NULL,    -- the sealed parts that were evaluated
    evaluated     TEXT[] NOT NULL,    -- all parts that were evaluated
    system        TEXT NOT NULL,      -- the name of the run, or of the file of answers
    of_answers    BOOLEAN NOT NULL,   -- whether it was a file of answers
    rounded       BOOLEAN NOT NULL,   -- whether nothing but one rounded figure was shown, as to evaluators
    figures       JSON,               -- measure → value, low, high, n, judged, as they were shown; NULL: refused
    reason        TEXT NOT NULL,      -- '' where a request was refused that had none
    evaluated_by  TEXT NOT NULL,      -- an annotator's name, or 'command line'
    evaluated_at  TIMESTAMP NOT NULL,
    refused       TEXT                -- the sentence by which the request was refused; NULL: it was not
);
INSERT INTO sealed_evaluations
SELECT look_id, release_id, name, parts, coalesce((asked->'parts')::TEXT[], parts), system,
       coalesce(asked->>'answers' = 'true', false), coalesce(asked->>'ladder' = 'true', false),
       figures, reason, looked_by, looked_at, NULL
FROM looks ORDER BY rowid;

-- The value of each query by the first measure of an evaluation that leads saw all figures of.
CREATE TABLE sealed_evaluation_values (
    evaluation_id TEXT NOT NULL,
    query_id      TEXT NOT NULL,
    value         DOUBLE              -- NULL where the query has none
);
INSERT INTO sealed_evaluation_values
SELECT look_id, query_id, value FROM look_queries JOIN looks USING (look_id)
WHERE coalesce(asked->>'answers', 'false') <> 'true' AND coalesce(asked->>'ladder', 'false') <> 'true'
  AND (scored_by = (asked->'measures')->>0
       OR starts_with(scored_by, (asked->'measures')->>0 || ', relevant from '))
ORDER BY look_queries.rowid;

DROP TABLE look_lists;
DROP TABLE look_queries;
DROP TABLE looks;
