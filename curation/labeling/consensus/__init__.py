"""Consensus: the rule by which votes become one grade for each pair, and reviewers' decisions on disputes."""
