"""Core: modules that all other packages use: errors, texts, statistics, reports, requests to servers."""
