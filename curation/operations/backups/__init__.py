"""Backups: copies of the project file, restoring them, and new projects made of damaged ones."""
