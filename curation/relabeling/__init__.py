"""Re-labeling by quarters: what of the gold set has gone stale, which part is judged again, and what that
changed.

`staleness` says how old and how doubtful every pair is. `plan` chooses the pairs of a quarter, and `opening`
gives them to annotators as a blind round. `drift` compares the old grades with the new ones.
"""
