"""Importing a file by picking: look at it, say which field is which, rehearse, then import.

A request says all that an import needs, as JSON knows it (`request`). `look` reads the beginning of its file
and proposes fields; `collection_files` recognises the files of a collection. `operations` does the imports
and calls the rooms that take them in; no other module here imports it.
"""
