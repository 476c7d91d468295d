"""Readers of files: lines, records and columns of each format, values and times in records, and problems of a
file.
"""
