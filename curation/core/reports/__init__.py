"""Reports for people: one-file HTML pages and SVG charts, drawn from templates.

`page` has the page, its sections and tables; `charts` has the drawings. They know nothing of what they show.
The templates escape every value, and the same input gives the same bytes.
"""
