"""The plan of a quarter: which pairs are judged again, which queries leave and join, and what it costs."""
