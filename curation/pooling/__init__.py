"""Pooling: the documents to judge for each query, with the systems that proposed each of them."""

RANDOM = "random"
"""System of the documents that a pool draws at random."""
