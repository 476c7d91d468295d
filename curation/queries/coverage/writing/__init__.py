"""Queries written for coverage: writing tasks for people, checks of the text, and origins of queries."""
