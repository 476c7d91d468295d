"""Ties: why two queries must stay in one part.

Each kind of tie is a file with one record (`kind.TieKind`), and `kinds.KINDS` lists the records in their
order. The search, the sweep, the stored parameters and the checks of `Rules` read that list. A kind also has
a field of `Rules`, which switches it, and a check of its own in `certificate`.
"""
