"""What is wrong with one file: all problems are told at once, each with its line and what to do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

from curation.core.errors import InputError

_UNDECODED = re.compile(r"[\udc80-\udcff]|\\udc[89a-f][0-9a-f]")
"""A byte that the encoding cannot read: the surrogate that `lines` passes on, which no page can draw, or the
escape that `repr` writes for it, which nobody understands."""

MAX_EXCERPT_LENGTH = 60


def quoted_excerpt(text: str) -> str:
    """Return the beginning of a text for a sentence, in quotes and on one line."""
    line = " ".join(text[: 4 * MAX_EXCERPT_LENGTH].split())
    return repr(f"{line[:MAX_EXCERPT_LENGTH]}…" if len(line) > MAX_EXCERPT_LENGTH else line)


class Problems:
    """What is wrong with one file, in the order in which it was met.

    Attributes
    ----------
    unit: what a record's number counts: 'line', or 'row' in a file without lines.
    """

    LIMIT = 20  # a file with more is not the file that was meant: reading it on helps nobody

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unit = "line"
        self._sentences: dict[str, None] = {}  # the grades of one row can share a problem
        self._ways_out: dict[str, None] = {}

    def add(self, number: int, problem: str, way_out: str = "") -> None:
        """Note a problem of record `number`; the ways out of all problems are shown once, at the end.

        Raises
        ------
        InputError: this was the last one that is worth noting.
        """
        self.add_general(f"{self.unit} {number}: {problem}", way_out)
        if len(self._sentences) >= self.LIMIT:
            self._ways_out[f"Reading stopped after {self.LIMIT} problems: there may be more."] = None
            raise self._error()

    def add_general(self, problem: str, way_out: str = "") -> None:
        """Note a problem of the file as a whole."""
        self._sentences[_UNDECODED.sub("\ufffd", problem)] = None
        if way_out:
            self._ways_out[way_out] = None

    def hint(self, sentence: str) -> None:
        """Add this sentence to the ways out, if there are problems."""
        if self._sentences:
            self._ways_out[sentence] = None

    def stop(self, problem: str, way_out: str = "") -> NoReturn:
        """Raise an InputError with this problem and all noted before: there is no reading on."""
        self.add_general(problem, way_out)
        raise self._error()

    def check(self) -> None:
        """Raise an InputError if there were any problems."""
        if self._sentences:
            raise self._error()

    def _error(self) -> InputError:
        return InputError(list(self._sentences), path=self.path, way_out="\n".join(self._ways_out))
