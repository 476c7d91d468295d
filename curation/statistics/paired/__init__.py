"""Paired differences of two systems on the same queries: their size, their tests, and what they can detect."""
