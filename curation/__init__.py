"""goldgrade: from a corpus and a traffic log to a frozen, human-judged gold set."""

__version__ = "0.1.0"
