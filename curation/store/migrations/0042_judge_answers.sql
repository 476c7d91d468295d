-- What a language model answered when it was asked as a judge. Its grade is also in judge_judgments, unless the pair
-- was asked again to check the judge's consistency.
CREATE TABLE judge_answers (
    judge        TEXT NOT NULL,
    query_id     TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    guide_hash   TEXT NOT NULL,
    call_id      TEXT NOT NULL,    -- of model_answers
    again        BOOLEAN NOT NULL, -- whether it is the second call about the pair
    grade        INTEGER,          -- none: cannot tell
    quotes       INTEGER NOT NULL,
    unfound      INTEGER NOT NULL, -- quotes that the document does not contain
    instructions BOOLEAN NOT NULL, -- whether the judge quoted a passage that tries to influence the grade
    PRIMARY KEY (judge, call_id, query_id, document_id, content_hash)
);
