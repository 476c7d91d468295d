"""Pooling: the documents to judge for each query, with the systems that proposed each of them."""
