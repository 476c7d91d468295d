"""The page Curate: sample, queries, pool and round, each a step with its own module."""
