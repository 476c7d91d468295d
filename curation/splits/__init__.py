"""Splits: which queries are for developing and which for testing, so that nothing leaks between them.

`ties` joins queries that give each other away, as `request.Rules` asks. Connected queries form leakage groups
(`groups`). Whole groups go to the parts: balanced (`assignment`), by time (`by_time`), or as releases have
them (`checked_assignment`). An exhaustive check that shares no code with `ties` looks for ties across the
parts (`certify`), and its findings make the `certificate`.
"""
