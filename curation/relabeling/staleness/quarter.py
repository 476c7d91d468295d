"""Quarters of the calendar: plans, ages and what is due are counted in them."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple, Self

from curation.core.errors import InputError

REVISIT = 8
"""From so many quarters on, two years, the age of a pair alone makes it stale."""

_NAME = re.compile(r"(\d{4})-Q([1-4])")


class Quarter(NamedTuple):
    """A quarter of a year; quarters order and count like numbers."""

    year: int
    number: int

    @classmethod
    def of(cls, day: date) -> Self:
        """The quarter that a day is in."""
        return cls(day.year, (day.month - 1) // 3 + 1)

    @classmethod
    def named(cls, name: str) -> Self:
        """The quarter of a name such as 2026-Q4.

        Raises
        ------
        InputError: it is not one.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            raise InputError(f"{name!r} is no quarter; expected one such as 2026-Q4")
        return cls(int(match[1]), int(match[2]))

    @property
    def name(self) -> str:
        return f"{self.year:04d}-Q{self.number}"

    def since(self, earlier: Quarter) -> int:
        """How many quarters after another one; 0 where a clock stepped back over it."""
        return max(0, 4 * (self.year - earlier.year) + self.number - earlier.number)

    def before(self, quarters: int) -> Quarter:
        """The quarter so many quarters earlier; a negative number is later."""
        year, place = divmod(4 * self.year + self.number - 1 - quarters, 4)
        return Quarter(year, place + 1)
