"""Traffic logs: reading, cleaning, keyed sessions, and the import."""
