"""Reports for people: one-file HTML pages and SVG charts, drawn from templates.

`page` makes the page with its sections and tables; `charts` makes the drawings. These modules do not depend
on the meaning of the figures. The templates escape every value, and the same input gives the same bytes.
"""
