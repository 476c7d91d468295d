"""Tables in files: lines, blocks, records, times, and the problems found in them."""
