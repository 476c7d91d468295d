"""Comparing systems on the same queries: differences, tests, the leaderboard, and how firm the order is."""
