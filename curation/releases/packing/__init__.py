"""A release in one file: its tables and manifest, and how it is read."""
