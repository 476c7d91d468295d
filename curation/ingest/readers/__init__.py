"""File readers: lines, records and columns of each format, values and times, and problems."""
