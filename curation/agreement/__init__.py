"""Agreement: how reliable the labels are.

Between annotators (`between`), within one annotator (`annotators`), and the report of both (`report`). A
statistic that cannot be computed is a value with the reason, never NaN and never 0.
"""
