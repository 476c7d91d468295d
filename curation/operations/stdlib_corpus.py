"""The demo's corpus: the docstrings of the installed Python's standard library as JSON lines.

A new user can grade pairs within a minute after the installation, without a network, a download or a license
to read: every Python contains a few thousand short texts that developers can judge. A document has the name
that people write: `asyncio.gather`, not `asyncio.tasks.gather`.

The documents come from the parsed sources (`operations.stdlib_sources`) and from imported modules
(`operations.stdlib_modules`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path

from curation.operations.stdlib_document import StdlibDocument
from curation.operations.stdlib_modules import IMPORTED_MODULES, read_module
from curation.operations.stdlib_sources import list_sources, read_source

MIN_WORDS = 5
MIN_METHOD_WORDS = 12
"""The numbers of words from which people can judge the docstring of a function, and of a method."""


def write_stdlib_corpus(path: Path, modules: Collection[str] | None = None) -> int:
    """Write the corpus to `path` as JSON lines ordered by id, and return the number of its documents.

    The same version of Python writes the same bytes.

    Parameters
    ----------
    modules: top-level names of modules, such as json, whose documents are written; None is all modules.
    """
    published = [document for name in IMPORTED_MODULES for document in read_module(name)]
    defined = [document for name, file in list_sources(modules) for document in read_source(name, file)]
    # Published names come first, so that a text which appears twice keeps its published name.
    documents = _drop_repeats([*_sort_by_dots(published), *_sort_by_dots(defined)])
    if modules is not None:
        documents = [document for document in documents if document.group in modules]
    lines = [json.dumps(document._asdict(), ensure_ascii=False) + "\n" for document in sorted(documents)]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return len(documents)


def _sort_by_dots(documents: Iterable[StdlibDocument]) -> list[StdlibDocument]:
    return sorted(documents, key=lambda document: (_count_dots(document.id), document.id))


def _count_dots(name: str) -> int:
    """Count the dots of a name as people write it: `str.split` has one dot, although its id is
    `builtins.str.split`."""
    return name.removeprefix("builtins.").count(".")


def _drop_repeats(documents: Iterable[StdlibDocument]) -> list[StdlibDocument]:
    """Keep the first document of each id and of each text, without texts that are too short to judge."""
    document_of: dict[str, StdlibDocument] = {}
    texts: set[str] = set()
    for document in documents:
        min_words = MIN_WORDS if _count_dots(document.id) <= 1 else MIN_METHOD_WORDS
        is_short = len(document.body.split()) < min_words
        if not (is_short or document.id in document_of or document.body in texts):
            document_of[document.id] = document
            texts.add(document.body)
    return list(document_of.values())
