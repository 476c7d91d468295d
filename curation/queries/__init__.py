"""Queries: which queries are judged, how they are tagged, and which regions of the corpus they test."""
