"""Comparing systems on the same queries: differences, tests and the leaderboard."""
