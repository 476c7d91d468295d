"""goldgrade: from a corpus and a traffic log to a frozen, human-judged gold set."""

__version__ = "0.1.0"
GC_THRESHOLDS = (50_000, 5, 5)
"""Thresholds of the garbage collector, see gc.set_threshold; the default of 700 costs a sixth of the time
of imports."""
