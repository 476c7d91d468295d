"""Drift: old grades against new ones, why they differ, and what that says of the whole set."""
