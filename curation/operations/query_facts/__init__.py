"""Queries: all that the project knows of one query, for the page that every row with a query opens."""
