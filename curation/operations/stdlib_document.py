"""A document of the demo's corpus, made from the docstring of an object in the standard library."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import NamedTuple

MAX_TITLE_LENGTH = 100
# os and os.path publish the functions of these modules under the names that people write.
REPUBLISHED = frozenset("posix posixpath ntpath nt genericpath nturl2path".split())


class StdlibDocument(NamedTuple):
    """A document of the demo's corpus: a docstring of the standard library."""

    id: str
    title: str
    body: str
    group: str


def make_document(name: str, title: str, docstring: object) -> Iterator[StdlibDocument]:
    """Yield the demo document for an object of the standard library, if the object has a docstring."""
    if isinstance(docstring, str) and docstring.strip():
        body = inspect.cleandoc(docstring).strip()
        yield StdlibDocument(name, title.replace("builtins.", ""), body, name.partition(".")[0])


def join_parameters(parameters: list[str], name: str) -> str:
    """Join the parameters in parentheses, leaving out the last ones if the title would be too long."""
    max_length = max(MAX_TITLE_LENGTH - len(name), 30)
    shown = list(parameters)
    while len(", ".join(shown)) > max_length:
        shown.pop()
    if len(shown) < len(parameters):
        shown = [*(shown[:-1] if shown[-1:] in (["*"], ["/"]) else shown), "..."]
    return f"({', '.join(shown)})"
