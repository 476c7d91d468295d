"""Staleness: age, documents, traffic, doubt, guide and influence of every judged pair, and their score."""
