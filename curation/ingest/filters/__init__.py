"""Filters of queries: which documents a query is about, by product, version or time, whatever their text."""
