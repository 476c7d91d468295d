"""Negatives: hard negatives, assumed negatives, and the audit that measures them."""
