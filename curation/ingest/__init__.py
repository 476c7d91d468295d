"""Ingest: reading files, choosing their columns, replacing personal data, and storing the records in a
project."""
