"""Similarity of texts without a database: shingles, MinHash, exact pairs, spanning forests, near-duplicates."""
