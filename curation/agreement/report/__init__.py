"""The agreement report: its figures, findings, sections and page."""
