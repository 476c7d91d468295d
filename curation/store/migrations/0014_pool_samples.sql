-- Where a random sample of a pool is judged: every pooled pair with its probability of being drawn.
CREATE TABLE pool_sample_pairs (
    pool_id               TEXT NOT NULL,
    query_id              TEXT NOT NULL,
    document_id           TEXT NOT NULL,
    rank                  INTEGER NOT NULL CHECK (rank > 0),
    band                  INTEGER NOT NULL CHECK (band > 0),
    inclusion_probability DOUBLE NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1),
    sampled               BOOLEAN NOT NULL
);
