-- What people write about a query: what the person behind it needs, and notes of the team, which annotators
-- do not see. Appended; the highest revision has the note. The need is in `queries` as well, where every
-- screen and export reads it, and where an import may bring another.
CREATE TABLE query_notes (
    query_id         TEXT NOT NULL,
    revision         INTEGER NOT NULL,
    information_need TEXT,          -- NULL: none
    note             TEXT NOT NULL, -- '' where there is none
    author           TEXT NOT NULL,
    written_at       TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, revision)
);
