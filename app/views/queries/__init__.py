"""The page Queries: the sample, and the list of queries with their tags."""
