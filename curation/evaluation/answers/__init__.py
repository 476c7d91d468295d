"""Evaluation of the answers that RAG systems give to queries."""
