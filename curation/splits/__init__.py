"""Splits of the graded queries into parts, such as dev and test, so that nothing leaks between the parts.

`ties` joins queries where one reveals the answers of the other, by the thresholds in `rules`. Connected
queries form leakage groups (`groups`). Whole groups are assigned to the parts: balanced (`assignment`), by
time (`by_time`), or to the parts that their queries have in releases (`carried_over`). An exhaustive check
that shares no code with `ties` looks for ties across the parts (`certify`), and its findings make the
`certificate`.
"""
