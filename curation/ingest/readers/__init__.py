"""Readers of files: lines, records and columns of each format, their values and times, and problems of a
file.
"""
