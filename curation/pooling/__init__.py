"""Which documents will be judged for each query: pools with the provenance of every candidate."""
