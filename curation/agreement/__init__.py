"""Agreement: how reliable the labels are, between annotators and within each of them.

A statistic that cannot be computed is a value with the reason, never NaN and never 0.
"""
