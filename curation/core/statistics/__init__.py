"""Pure statistics: intervals, paired comparisons, p values, power, allocation, weights."""
