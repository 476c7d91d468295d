"""The page Adjudicate: the disputed pair, what surrounds it, the decision, and recent decisions."""
