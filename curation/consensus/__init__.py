"""Consensus: the rule by which judgments become one grade for each pair."""
