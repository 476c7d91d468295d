"""Negatives: hard negatives, assumed negatives, and the audit that measures the share of relevant pairs among
assumed negatives.
"""
