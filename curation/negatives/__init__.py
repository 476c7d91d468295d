"""Negatives: hard negatives, assumed negatives, and the audit that measures how many of them are relevant."""
