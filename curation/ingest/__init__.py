"""Ingest: reading files, choosing columns, replacing personal data, and storing the records in a project."""
