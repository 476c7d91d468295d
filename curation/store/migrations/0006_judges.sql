-- Judgments of judges that are not people, apart from the votes of people.

CREATE TABLE judge_judgments (
    judge        TEXT NOT NULL,
    query_id     TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    revision     INTEGER NOT NULL CHECK (revision >= 0),
    grade        INTEGER,
    note         TEXT,
    guide_hash   TEXT NOT NULL,
    source       TEXT NOT NULL,
    submitted_at TIMESTAMP,
    imported_at  TIMESTAMP NOT NULL,
    PRIMARY KEY (judge, query_id, document_id, content_hash, revision)
);
CREATE VIEW current_judge_judgments AS
SELECT * FROM judge_judgments
QUALIFY row_number() OVER (
    PARTITION BY judge, query_id, document_id, content_hash ORDER BY revision DESC) = 1;
