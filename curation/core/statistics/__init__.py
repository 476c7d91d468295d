"""Statistics without a database: intervals, paired comparisons, p values, power, and allocation of
samples.
"""
