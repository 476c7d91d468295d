"""Pure: shingles, MinHash, exact pairs, spanning forests and near-duplicate groups of texts."""
