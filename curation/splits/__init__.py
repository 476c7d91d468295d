"""Splits: which queries are for developing and which for testing, so that nothing leaks between them.

`ties` joins queries that give each other away, as `rules` ask for. Connected queries form leakage groups
(`groups`). `assignment` gives whole groups to the parts: balanced, by time, or carried over from releases.
An exhaustive check that shares no code with `ties` looks for what crosses the parts (`certificate`).
"""
