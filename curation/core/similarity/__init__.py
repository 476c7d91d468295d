"""Similarity of texts without a database: shingles, MinHash, exact pairs, forests, near-duplicates."""
