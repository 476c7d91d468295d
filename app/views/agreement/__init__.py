"""The page Agreement: the verdict, where disagreement comes from, and the checks of a round."""
