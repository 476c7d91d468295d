"""Paired differences of two systems on the same queries: size, tests, and what they can detect."""
