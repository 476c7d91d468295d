"""Agreement: how reliably people label, between annotators and within each annotator.

A statistic that cannot be computed is None with the reason, never NaN and never 0.
"""
