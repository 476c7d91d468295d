-- A guide says which fields of a document its readers see, and how the body is drawn.

CREATE TABLE guide_templates (
    guide_hash TEXT PRIMARY KEY,
    template   JSON NOT NULL
);
