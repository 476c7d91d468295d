"""Core: modules that all other packages use, such as errors, texts, statistics, reports and requests to
servers."""
