"""Consensus: the rule that turns votes into one grade per pair, and reviewers' decisions on disputes."""
