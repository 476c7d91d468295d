"""Safe elements: what a drawn document consists of, and the only names and attributes that there are.

Screens make their elements from this tree by name, one by one, and text becomes text. So nothing of a
document is ever read as markup by a browser, whatever it holds.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.labeling.presentation.excerpts import Segment

CONTAINERS = frozenset("blockquote li dd td th".split())
"""Elements with text or blocks in them."""

BLOCKS = CONTAINERS | frozenset("p h3 h4 h5 h6 ul ol dl dt table caption thead tbody tfoot tr pre hr".split())
INLINE = frozenset("strong em code sub sup del ins a br img span".split())
NAMES = BLOCKS | INLINE
ATTRIBUTES = frozenset("href src alt start colspan rowspan cut at".split())


class Element(NamedTuple):
    """An element with what is in it.

    Attributes
    ----------
    name: one of `NAMES`. An `img` without `src` may not be fetched, and is shown as its `alt`.
    attributes: those of `ATTRIBUTES`; `cut` says on which sides a table, list or paragraph goes on
        ('before', 'after' or both); `at` is the place of a sentence in the body, of a `span`.
    """

    name: str
    attributes: dict[str, str]
    children: list[Node]


Node = Segment | Element


class Fact(NamedTuple):
    """A field below the title: what is before its value ('' for nothing), and the value."""

    label: str
    value: list[Node]
