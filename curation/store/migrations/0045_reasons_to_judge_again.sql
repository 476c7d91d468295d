-- Why a re-labeling has a pair: 'document', 'guide', 'age', 'oldest', 'random' or 'chosen'. Older plans lack it.
-- A plan that a lead chose is named after its quarter: '2026-Q4.1'.
ALTER TABLE relabeling_pairs ADD COLUMN reason TEXT;

-- Regions of the coverage map that a lead dismissed as no topic. The highest revision counts.
CREATE TABLE dismissed_regions (
    map_id       TEXT NOT NULL,
    number       INTEGER NOT NULL,
    revision     INTEGER NOT NULL,
    dismissed    BOOLEAN NOT NULL,
    author       TEXT NOT NULL,
    dismissed_at TIMESTAMP NOT NULL,
    PRIMARY KEY (map_id, number, revision)
);
