"""Queries written for coverage: writing tasks for people, checks of the queries' texts, and the queries'
origins."""
