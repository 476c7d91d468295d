"""Traffic logs: reading and cleaning logged queries, hashing session ids, and importing a log."""
