"""A document as its readers see it: parsed, cut to the passage that matched, marked, as safe elements."""
