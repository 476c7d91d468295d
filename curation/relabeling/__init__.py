"""Quarterly re-labeling of a gold set: due pairs, pairs judged again, and changed grades.

`judged_pairs` says of each pair why people should judge it again, and `due_list` makes the list of a quarter.
`plan` makes the plan of a quarter, `pair_selection` and `query_changes` select its pairs and queries, and
`open_quarter` gives the pairs to annotators as a blind round. `chosen_pairs` does this with pairs that a lead
chooses. `report` compares the old grades with the new grades, and `system_figures` shows how the figures of
systems moved over the releases.
"""
