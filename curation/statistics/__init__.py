"""Pure statistics: intervals, allocation, weights."""
