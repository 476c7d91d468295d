"""Evaluation of systems' answers to queries."""
