"""The index of BM25 as files next to the project: made by all cores, mapped into memory, never half-made."""
