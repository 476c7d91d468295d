-- Nuggets that a language model proposed for a query: none of them is one before somebody saves it.
CREATE TABLE nugget_proposals (
    query_id    TEXT NOT NULL,
    call_id     TEXT NOT NULL,      -- of model_answers
    model       TEXT NOT NULL,
    texts       TEXT[] NOT NULL,    -- each once
    vital       BOOLEAN[] NOT NULL, -- of each
    proposed_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, call_id),
    CHECK (len(texts) = len(vital))
);
DROP VIEW current_nuggets;
ALTER TABLE nuggets ADD COLUMN call_id TEXT; -- of the proposals that the author was shown; NULL: none
CREATE VIEW newest_nuggets AS
SELECT * FROM nuggets QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1;
CREATE VIEW current_nuggets AS SELECT * FROM newest_nuggets WHERE len(texts) > 0;
-- The newest proposals of each query, and what people wrote of them; NULL: nobody has.
CREATE VIEW current_nugget_proposals AS
SELECT p.query_id, p.call_id, p.model, p.texts, p.vital,
       CASE WHEN n.call_id = p.call_id THEN n.texts END AS written_texts,
       CASE WHEN n.call_id = p.call_id THEN n.vital END AS written_vital
FROM nugget_proposals p LEFT JOIN newest_nuggets n USING (query_id)
QUALIFY row_number() OVER (PARTITION BY p.query_id ORDER BY p.proposed_at DESC, p.call_id) = 1;
