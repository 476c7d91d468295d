"""Rounds: who judges what in which order, opened once, paused, closed and reopened."""
