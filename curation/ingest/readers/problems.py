"""Problems in a file, collected with their line numbers and advice, and raised together as one error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from curation.core.errors import InputError

_UNDECODED = re.compile(r"[\udc80-\udcff]|\\udc[89a-f][0-9a-f]")
"""Pattern of an undecodable byte: its surrogate, or the escape of the surrogate in `repr`."""

MAX_EXCERPT_LENGTH = 60


def excerpt(text: str) -> str:
    """Return the beginning of a text on one line, for use in a sentence or a table cell."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_EXCERPT_LENGTH else f"{line[: MAX_EXCERPT_LENGTH - 1]}…"


def quoted_excerpt(text: str) -> str:
    """Return a text in quotes, or only its beginning if it is long."""
    return repr(excerpt(text[: 4 * MAX_EXCERPT_LENGTH]))


class Problems:
    """Problems in one file, in the order in which a reader found them.

    Attributes
    ----------
    unit: noun for a record's number: 'line', or 'row' in a file without lines.
    names: name of the file of each record, for records in files of their own.
    """

    LIMIT = 20  # a file with more problems is probably the wrong file

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unit = "line"
        self.names: Mapping[int, str] = {}
        self._sentences: dict[str, None] = {}  # the grades of one row can share a problem
        self._ways_out: dict[str, None] = {}

    def add(self, number: int, problem: str, way_out: str = "") -> None:
        """Add a problem in the record with this number, with advice in `way_out`.

        Raises
        ------
        InputError: the number of problems reached `LIMIT`.
        """
        self.add_general(f"{self.place(number)}: {problem}", way_out)
        if len(self._sentences) >= self.LIMIT:
            self._ways_out[f"Reading stopped after {self.LIMIT} problems. The file may have more."] = None
            raise self._as_error()

    def place(self, number: int) -> str:
        """Return a record's location, for use in a sentence: its line, its row, or its file's name."""
        return self.names.get(number) or f"{self.unit} {number}"

    def add_general(self, problem: str, way_out: str = "") -> None:
        """Add a problem that concerns the file as a whole."""
        self._sentences[_UNDECODED.sub("\ufffd", problem)] = None
        if way_out:
            self._ways_out[way_out] = None

    def hint(self, sentence: str) -> None:
        """Add a sentence to the advice if the file has problems."""
        if self._sentences:
            self._ways_out[sentence] = None

    def stop(self, problem: str, way_out: str = "") -> NoReturn:
        """Raise an InputError with this problem and all earlier problems."""
        self.add_general(problem, way_out)
        raise self._as_error()

    def check(self) -> None:
        """Raise an InputError with all problems if the file has any."""
        if self._sentences:
            raise self._as_error()

    def _as_error(self) -> InputError:
        return InputError(list(self._sentences), path=self.path, way_out="\n".join(self._ways_out))
