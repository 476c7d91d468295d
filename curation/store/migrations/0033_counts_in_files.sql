-- Counts of words are in files next to the project, from which the index of BM25 is made. What was counted
-- before is counted again at the next search.
DROP TABLE document_terms;
DROP TABLE counted_words;
