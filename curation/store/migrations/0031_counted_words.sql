-- Words as numbers: a word is written once for a way of cutting, and documents name its number. What was
-- counted before is counted again at the next search.
DROP TABLE document_terms;
CREATE TABLE counted_words (
    counter TEXT NOT NULL,          -- hash of all that the counts depend on besides the document
    number  INTEGER NOT NULL,       -- from 0, without gaps
    word    TEXT NOT NULL
);
CREATE TABLE document_terms (
    counter      TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    numbers      INTEGER[] NOT NULL, -- of its words, ascending
    counts       UINTEGER[] NOT NULL -- how often each stands there
);
