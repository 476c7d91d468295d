"""The request for a split, with the fractions of its parts and the rules of ties."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose

from curation.core.errors import InputError, refuse_problems
from curation.core.request import Seed, option
from curation.splits.rules import RULES, Rules, find_rule_problems

PARTS: Mapping[str, float] = {"dev": 0.7, "test": 0.3}
LARGEST_GROUP = 0.05
"""Share of the queries above which a leakage group is large, if it exceeds `refusals.MAX_SMALL_GROUP`."""
_PART = re.compile(r"[a-z][a-z0-9_-]{0,30}")


def check_request(request: SplitRequest) -> None:
    """Reject a request for a split with invalid values, before the project is read.

    Raises
    ------
    InputError: fractions, part names, rules or the largest group are wrong. The error lists all problems.
    """
    problems = find_part_problems(request.fractions) + find_rule_problems(request.rules)
    share = request.largest_group
    if share is not None and not 0 < share <= 1:
        problems.append(f"A largest group of {share:g}: expected a share above 0 and at most 1")
    refuse_problems(problems)


def collect_parts(parts: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Map each part of the split to its fraction, in the order of the parts.

    Raises
    ------
    InputError: the name of a part was given twice.
    """
    repeated = [name for name, count in Counter(name for name, _ in parts).items() if count > 1]
    refuse_problems([f"the part {name!r} was given twice" for name in repeated])
    return dict(parts)


def find_part_problems(parts: Mapping[str, float]) -> list[str]:
    """List the problems with part names and fractions, in one sentence each."""
    problems = []
    total = sum(parts.values())
    listed = ", ".join(f"{name} {fraction:g}" for name, fraction in parts.items()) or "(none)"
    if not parts or any(not 0 < fraction <= 1 for fraction in parts.values()):
        problems.append(f"the parts {listed}: expected fractions above 0 and at most 1")
    elif not isclose(total, 1.0, abs_tol=1e-6):
        problems.append(f"the parts {listed} sum to {total:g}; expected fractions that sum to 1")
    return problems + [
        f"the part name {name!r}: expected lower-case letters, digits, - and _"
        for name in parts
        if not _PART.fullmatch(name)
    ]


def parse_part(text: str) -> tuple[str, float]:
    """Parse the text of a part of a split, such as 'train=0.6', into its name and fraction.

    Raises
    ------
    InputError: the text does not have that form.
    """
    name, _, fraction = text.partition("=")
    try:
        return name, float(fraction)
    except ValueError:
        raise InputError(f"Part {text}: expected NAME=FRACTION, such as train=0.6") from None


@dataclass(frozen=True)
class SplitRequest:
    """A request to preview or store a split.

    Attributes
    ----------
    parts: name and fraction, in their order.
    by_time: whether queries go to the parts by the time when they were first asked; otherwise parts are
        balanced.
    largest_group: the largest share of the queries that a group may have; None: any share, unless a large
        group causes a balance problem (`refusals.find_balance_problem`).
    expected: the id of the split that was previewed; a split with a different id is refused.
    folder: the folder for a preview.
    """

    parts: tuple[tuple[str, float], ...] = option(
        tuple(PARTS.items()),
        "Parts",
        "Name of a part of the split and its share of the queries. Repeatable.",
        flag="--part",
        unset="dev=0.7, test=0.3",
        metavar="NAME=FRACTION",
        parse=parse_part,
    )
    seed: Seed = 0
    rules: Rules = RULES
    relevant_grade: int | None = option(
        None,
        "Lowest grade of a relevant document",
        "Lowest grade of a relevant document.",
        unset="every grade above the lowest",
    )
    by_time: bool = option(
        False,
        "By time: earlier queries in earlier parts",
        "Split by the time when queries were first asked. Name the part for the earliest queries first. "
        "Queries without a known time go to the first part.",
    )
    largest_group: float | None = option(
        None,
        "Largest group",
        "Largest share of the queries in one leakage group.",
        unset="any size that keeps the sizes of the parts",
    )
    fresh: bool = option(
        False, "Released queries may change their part", "Ignore the parts of queries in earlier releases."
    )
    expected: str | None = None
    folder: str = ""

    @property
    def fractions(self) -> dict[str, float]:
        """Return each part's fraction of the split, in the order of the parts."""
        return collect_parts(self.parts)
