"""The page Releases: the frozen gold sets, freezing the next one, and what became of one from another."""
