"""Findings: what the doctor says of one thing that it looked at."""

from __future__ import annotations

from typing import Literal, NamedTuple

Level = Literal["fine", "note", "problem"]


class DoctorFinding(NamedTuple):
    """What was looked at, and what was found.

    level: 'problem' asks for somebody to act, 'note' is to be known.
    what: the file, log, versions, permissions, disk, releases, corpus, jobs, leftovers, backup,
        restore drill or clock.
    command: what to run, where a command helps.
    """

    level: Level
    what: str
    sentence: str
    command: str = ""


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:,.1f} MB"
