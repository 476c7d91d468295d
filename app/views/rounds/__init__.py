"""The page Rounds: progress, quality, remarks and management of each round."""
