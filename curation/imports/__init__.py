"""Importing a file by picking: look at it, say which field is which, rehearse, then import.

A request says all that an import needs, as JSON knows it (`request`). `look` reads the beginning of its file
and proposes fields; `dry_run` does the whole import and undoes it; `carry_out` does it. All of them call the
functions that `goldset import` calls, so nothing can be taken here that a command would refuse.
"""
