"""Tags: what kind each query is, by rules and by people."""
