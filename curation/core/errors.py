"""The errors that goldgrade raises on purpose.

    CurationError            everything below; the command line prints it and exits with 1
    ├── InputError           a file or an argument holds something that cannot be taken
    ├── NotFoundError        a name that the project does not hold
    ├── RefusedError         a rule of the project says no (closed round, open disputes, no right)
    └── StoreError           the database file
        ├── StoreBusyError   another process has held it for too long
        ├── StoreReadOnlyError  it can only be read
        └── StoreVersionError  written by a newer goldgrade, or a too old one

Each message is a sentence for a person: what was found, where, what was expected, what to do next. What only
a command line can do next is kept apart (`command`), so that a page can leave it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

MAX_LINE_LENGTH, MAX_LINES = 1_000, 60
Item = TypeVar("Item", bound="Named")


def bounded(sentences: str) -> str:
    """Cut long lines and the number of lines, so that people can read a message that quotes a file."""
    if len(sentences) <= MAX_LINE_LENGTH:
        return sentences
    lines = sentences.split("\n")
    shown = [
        line if len(line) <= MAX_LINE_LENGTH else f"{line[:MAX_LINE_LENGTH]}…" for line in lines[:MAX_LINES]
    ]
    return "\n".join(shown if len(lines) <= MAX_LINES else [*shown, "…"])


class CurationError(Exception):
    """Base of all errors whose message is written for users.

    Attributes
    ----------
    found: the message without the sentence about commands, for a page.
    logged: whether it is in a log that has each such refusal once.
    """

    logged = False

    def __init__(self, found: str, *, command: str = "") -> None:
        found = bounded(found)
        super().__init__(f"{found} {command}" if command else found)
        self.found = found


class InputError(CurationError):
    """Input that cannot be used, with every problem found, so that people correct all problems at once.

    Attributes
    ----------
    problems: one sentence each, without the file's name.
    path: the file or its address, where they are of one.
    way_out: what to do about them.

    On a page (`found`), problems of no file begin with a capital, as sentences do: begin none with a name.
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
            lines.append(f"… and {len(self.problems) - self.SHOWN} more like these.")
        if way_out:
            lines.append(way_out)
        super().__init__("\n".join(lines), command=command)
        if path is None:
            self.found = bounded("\n".join(map(_as_sentence, lines)))


def _as_sentence(line: str) -> str:
    word = line.partition(" ")[0].strip(",:;")
    return f"{line[:1].upper()}{line[1:]}" if word.isascii() and word.isalpha() else line


def refuse_problems(
    problems: Sequence[str], *, path: Path | None = None, way_out: str = "", command: str = ""
) -> None:
    """Raise an InputError with all problems, if there are any."""
    if problems:
        raise InputError(problems, path=path, way_out=way_out, command=command)


class NotFoundError(CurationError):
    """A name that the project does not hold."""


class Named(Protocol):
    """An object of a project that has a name."""

    @property
    def name(self) -> str: ...


def find_named(items: Sequence[Item], name: str, kind: str, more: str = "", command: str = "") -> Item:
    """Find the item of this name.

        Raises
        ------
    NotFoundError: there is no such item; the message lists all names, and `more`.
    """
    for item in items:
        if item.name == name:
            return item
    names = (
        f"{kind.capitalize()}s: {', '.join(item.name for item in items)}." if items else "It has none yet."
    )
    raise NotFoundError(f"The project has no {kind} {name!r}. {names}{more}", command=command)


class RefusedError(CurationError):
    """A rule of the project forbids what was asked."""


class StoreError(CurationError):
    """The database file cannot be used."""


class StoreBusyError(StoreError):
    """Another process has held the database file for too long."""


class StoreReadOnlyError(StoreError):
    """The project's file or its folder cannot be written."""


class StoreVersionError(StoreError):
    """The database was written by a newer goldgrade, or by one that is too old."""
