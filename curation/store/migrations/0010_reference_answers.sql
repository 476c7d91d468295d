-- Reference answers of queries, for systems that answer.

CREATE TABLE reference_answers (
    query_id    TEXT NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision >= 0),
    answers     TEXT[] NOT NULL,
    source      TEXT NOT NULL,
    answered_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, revision)
);
CREATE VIEW current_reference_answers AS
SELECT * FROM reference_answers
QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1;
