"""A release in one file: its tables and manifest, how it is read, and how it is found by path or address."""
