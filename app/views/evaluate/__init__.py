"""The page Evaluate: upload runs, read their reports, and the leaderboard of a release's part."""
