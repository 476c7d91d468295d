"""Statistics without a database: intervals, the bootstrap, paired comparisons, p values, power, and
allocation of samples.
"""
