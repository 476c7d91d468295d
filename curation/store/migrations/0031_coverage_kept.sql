-- What a language model kept of the entities that a text was matched to, for a map whose parameters name the
-- model and its prompt. Appended once a text; texts without a row follow the rule that needs no model.
CREATE TABLE coverage_kept (
    map_id     TEXT NOT NULL,
    normalised TEXT NOT NULL,
    kept       INTEGER[] NOT NULL, -- places of entities, ascending
    PRIMARY KEY (map_id, normalised)
);
