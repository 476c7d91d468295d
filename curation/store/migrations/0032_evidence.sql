-- Evidence: the characters of a document that show what a grade says. Offsets count code points of the body of
-- the version that was read: from start_at to before end_at. Appended with what it belongs to, never changed.

-- At which grades annotators mark evidence under a guide, from its front matter; none where they do not.
CREATE TABLE guide_evidence (
    guide_hash TEXT PRIMARY KEY,
    ask        TEXT NOT NULL CHECK (ask IN ('required', 'optional')),
    from_grade INTEGER NOT NULL
);

-- What an annotator marked with a grade: the revision is that of the judgment event. Ranges of an event neither
-- overlap nor touch.
CREATE TABLE evidence_marks (
    presentation_id TEXT NOT NULL,
    revision        INTEGER NOT NULL,
    start_at        INTEGER NOT NULL CHECK (start_at >= 0),
    end_at          INTEGER NOT NULL,
    quote           TEXT NOT NULL,     -- the characters themselves, by which they are found in a newer version
    quote_hash      TEXT NOT NULL,
    PRIMARY KEY (presentation_id, revision, start_at),
    CHECK (start_at < end_at)
);

-- What a reviewer marked with a decision: the revision is that of the decision.
CREATE TABLE decision_marks (
    query_id    TEXT NOT NULL,
    document_id TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    start_at    INTEGER NOT NULL CHECK (start_at >= 0),
    end_at      INTEGER NOT NULL,
    quote       TEXT NOT NULL,
    quote_hash  TEXT NOT NULL,
    PRIMARY KEY (query_id, document_id, revision, start_at),
    CHECK (start_at < end_at)
);
