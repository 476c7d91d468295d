"""The page of one query: its parts."""
