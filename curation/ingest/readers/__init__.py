"""Read files: lines, records and columns of every format, values and times in them, and all problems."""
