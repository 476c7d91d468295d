"""Core: what every room uses and none owns: errors, texts, statistics, reports, requests to servers."""
