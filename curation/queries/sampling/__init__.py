"""Sampling: strata of the traffic, the number of queries for each stratum, and the seeded draw of the queries
to judge."""
