"""Similarity of texts, computed without a database: shingles, MinHash, exact pairs, forests and
near-duplicates."""
