"""The page Rounds: opening a round, progress, remarks and management of each."""
