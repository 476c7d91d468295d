"""The errors that goldgrade raises on purpose.

    CurationError            any error below; the command line prints the message and exits with 1
    ├── InputError           a file or an argument has a value that cannot be used
    ├── NotFoundError        a name that the project does not have
    ├── RefusedError         a rule of the project forbids the step (closed round, open disputes, no right)
    └── StoreError           the database file cannot be used
        ├── StoreBusyError   another process has held the file for too long
        ├── StoreReadOnlyError  the file can only be read
        └── StoreVersionError  the file is of a newer goldgrade, or of a version that is too old

Each message is a sentence for people that names the finding, its place, the expectation and the next step.
The next command is kept apart in `command`, so that a page can leave the command out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from curation.core.text import suggest

MAX_LINE_LENGTH, MAX_LINES = 1_000, 60
Item = TypeVar("Item", bound="Named")


def bounded(sentences: str) -> str:
    """Shorten an error message that quotes a file: cut long lines, and limit the number of lines."""
    if len(sentences) <= MAX_LINE_LENGTH:
        return sentences
    lines = sentences.split("\n")
    shown = [
        line if len(line) <= MAX_LINE_LENGTH else f"{line[:MAX_LINE_LENGTH]}…" for line in lines[:MAX_LINES]
    ]
    return "\n".join(shown if len(lines) <= MAX_LINES else [*shown, "…"])


class CurationError(Exception):
    """Base class of all errors whose message is written for users.

    Attributes
    ----------
    found: the message without the sentence about commands, for a page.
    logged: whether the refusal is already in a log that has each refusal of this kind once.
    """

    logged = False

    def __init__(self, found: str, *, command: str = "") -> None:
        found = bounded(found)
        super().__init__(f"{found} {command}" if command else found)
        self.found = found


class InputError(CurationError):
    """An error for unusable input that lists all problems, so that people can correct them together.

    Attributes
    ----------
    problems: a sentence for each problem, without the file's name.
    path: the file or its address, if all problems are in one file.
    way_out: a sentence on how to solve the problems.

    On a page (`found`), a problem without a file begins with a capital letter, so it cannot begin with a
    name.
    """

    SHOWN = 20

    def __init__(
        self,
        problems: Sequence[str] | str,
        *,
        path: Path | str | None = None,
        way_out: str = "",
        command: str = "",
    ) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        self.path = path
        self.way_out = way_out
        where = f"{path}: " if path else ""
        lines = [f"{where}{problem}" for problem in self.problems[: self.SHOWN]]
        if len(self.problems) > self.SHOWN:
            lines.append(f"… and {len(self.problems) - self.SHOWN} more problems.")
        if way_out:
            lines.append(way_out)
        super().__init__("\n".join(lines), command=command)
        if path is None:
            self.found = bounded("\n".join(map(_as_sentence, lines)))


def refuse_problems(
    problems: Sequence[str], *, path: Path | None = None, way_out: str = "", command: str = ""
) -> None:
    """Raise an InputError with all problems, if there are any."""
    if problems:
        raise InputError(problems, path=path, way_out=way_out, command=command)


class NotFoundError(CurationError):
    """An error for a name that does not exist in the project."""


class Named(Protocol):
    """An object in a project, such as a release or a round, that has a name."""

    @property
    def name(self) -> str: ...


def find_named(items: Sequence[Item], name: str, kind: str, more: str = "", command: str = "") -> Item:
    """Find the item with this name in a project.

    Raises
    ------
    NotFoundError: no item has this name; the message lists all names, and ends with `more`.
    """
    for item in items:
        if item.name == name:
            return item
    names = (
        f"{kind.capitalize()}s: {', '.join(item.name for item in items)}."
        if items
        else f"The project has no {kind}s yet."
    )
    end = suggest(name, [item.name for item in items]) or "."
    raise NotFoundError(f"The project has no {kind} {name!r}{end} {names}{more}", command=command)


class RefusedError(CurationError):
    """An error for an action that a rule of the project forbids."""


class StoreError(CurationError):
    """An error for a database file that cannot be used."""


class StoreBusyError(StoreError):
    """An error for a database file that another process has held for too long."""


class StoreReadOnlyError(StoreError):
    """An error for a project file, or its folder, that cannot be written."""


class StoreVersionError(StoreError):
    """An error for a database that a newer goldgrade wrote, or a goldgrade that is too old."""


def _as_sentence(line: str) -> str:
    word = line.partition(" ")[0].strip(",:;")
    return f"{line[:1].upper()}{line[1:]}" if word.isascii() and word.isalpha() else line
