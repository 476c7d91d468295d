"""Re-labeling by quarters: the stale pairs of the gold set, the pairs that are judged again, and the changed
grades.

`staleness` scores how old and how doubtful each pair is. `plan` chooses the pairs of a quarter, and
`open_quarter` gives the pairs to annotators as a blind round. `report` compares the old grades with the new
ones.
"""
