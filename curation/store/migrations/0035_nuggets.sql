-- Nuggets: the facts that a good answer to a query has, each vital or okay. The highest revision counts, and
-- has all nuggets of its query; without any there are none any more.
CREATE TABLE nuggets (
    query_id   TEXT NOT NULL,
    revision   INTEGER NOT NULL CHECK (revision >= 0),
    texts      TEXT[] NOT NULL,     -- each once
    vital      BOOLEAN[] NOT NULL,  -- of each
    source     TEXT NOT NULL,       -- file name, without its folder; or 'people', who wrote them in the app
    author     TEXT NOT NULL,
    written_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, revision),
    CHECK (len(texts) = len(vital))
);
CREATE VIEW current_nuggets AS
SELECT * FROM (
    SELECT * FROM nuggets QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1)
WHERE len(texts) > 0;
