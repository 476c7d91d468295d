"""Queries written for coverage: tasks for people, checks of the text, and the origin of each query."""
