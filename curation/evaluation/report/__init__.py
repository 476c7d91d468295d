"""The report of an evaluation: sections that one HTML file and the app show alike.

A section is a module in `sections` with a record `SECTION`; `page` finds it and puts it in its place.
"""
