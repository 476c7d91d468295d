"""Ingest: files are read, their columns picked, personal data taken out, and what they bring is stored."""
