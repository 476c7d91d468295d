"""Queries written for coverage: tasks for people who write, checks of the text, and origins of queries."""
