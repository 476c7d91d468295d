"""Agreement: how often different annotators give the same grade, and how consistently each annotator grades.

A statistic that cannot be computed is None with the reason, never NaN and never 0.
"""
