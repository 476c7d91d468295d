-- Coverage: the entities of a corpus, their clusters, and what queries are about.
CREATE TABLE coverage_maps (
    map_id      TEXT PRIMARY KEY,
    snapshot_id TEXT NOT NULL,
    parameters  JSON NOT NULL,
    left_out    JSON NOT NULL,
    made_at     TIMESTAMP NOT NULL
);
CREATE TABLE coverage_entities (
    map_id      TEXT NOT NULL,
    place       INTEGER NOT NULL,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    neighbours  INTEGER NOT NULL
);
CREATE TABLE coverage_documents (
    map_id      TEXT NOT NULL,
    document_id TEXT NOT NULL,
    entities    INTEGER[] NOT NULL
);
CREATE TABLE coverage_clusters (
    map_id   TEXT NOT NULL,
    number   INTEGER NOT NULL,
    name     TEXT NOT NULL,
    entities INTEGER[] NOT NULL
);
CREATE TABLE coverage_partitions (
    map_id     TEXT NOT NULL,
    resolution DOUBLE NOT NULL,
    seed       BIGINT NOT NULL,
    rand_index DOUBLE,
    labels     INTEGER[] NOT NULL
);
CREATE TABLE coverage_texts (
    map_id     TEXT NOT NULL,
    normalised TEXT NOT NULL,
    by_phrase  INTEGER[] NOT NULL,
    by_meaning INTEGER[] NOT NULL,
    PRIMARY KEY (map_id, normalised)
);
