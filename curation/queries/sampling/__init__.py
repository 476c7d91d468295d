"""Sampling: strata of the traffic, allocation, and the seeded draw of the queries to judge."""
