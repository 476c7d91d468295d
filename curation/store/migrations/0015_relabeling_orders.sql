-- What a new release does to past evaluations, as the report of a quarter shows it; the last one counts.

CREATE TABLE relabeling_orders (
    plan_id     TEXT NOT NULL,
    number      INTEGER NOT NULL,
    orders      JSON NOT NULL,
    author      TEXT NOT NULL,
    compared_at TIMESTAMP NOT NULL,
    PRIMARY KEY (plan_id, number)
);
