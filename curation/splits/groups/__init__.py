"""Leakage groups: connected queries, their chains, weakest links and cuts."""
