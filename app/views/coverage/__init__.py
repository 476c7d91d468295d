"""The page Coverage: regions that no query tests, tasks to write queries for them, and the map."""
