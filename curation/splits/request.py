"""What a split is asked for, and what can be wrong with that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose

from curation.core.errors import InputError, refuse_problems
from curation.core.operation import Needs, Seed, option
from curation.splits.rules import Rules

PARTS: Mapping[str, float] = {"dev": 0.7, "test": 0.3}
RULES = Rules()

LARGEST_GROUP = 0.05
"""A group with a larger share of the queries is large, unless it has few (`refusals.SMALL`)."""

_PART = re.compile(r"[a-z][a-z0-9_-]{0,30}")


@dataclass(frozen=True)
class AssignmentOptions:
    """How groups are assigned to the parts, besides their fractions.

    Attributes
    ----------
    by_time: cut by when queries were first asked, the parts in the order given; else balanced.
    undated: by time, the part for groups that no time is known of.
    keep: names of the releases whose queries keep their parts; None: all of them.
    largest_group: the largest share of the queries that one group may have; None: any, unless a large group
        spoils the split (`leakage_groups.balance_problem`).
    """

    by_time: bool = option(
        False,
        "By time: earlier queries in earlier parts",
        "Split by the time when queries were first asked. The parts are in the order given.",
    )
    undated: str | None = option(
        None,
        "Part of queries without a time",
        "Part of queries without a time, in a split by time.",
        unset="refuse",
        metavar="PART",
        needs=Needs("only a split by time needs one", lambda split: split["by_time"]),
    )
    keep: tuple[str, ...] | None = option(
        None,
        "Releases whose parts are kept",
        "Release whose queries keep their parts. Repeatable.",
        unset="all releases",
        metavar="RELEASE",
    )
    largest_group: float | None = option(
        None,
        "Largest group",
        "Largest share of the queries in one leakage group.",
        unset="any, unless a group over 0.05 spoils the parts",
    )


@dataclass(frozen=True)
class NewSplit:
    """A split that somebody wants; see `split.make_split`.

    Attributes
    ----------
    parts: name and fraction, in their order.
    expected: the id of the split that was previewed: another one is refused.
    """

    parts: tuple[tuple[str, float], ...] = tuple(PARTS.items())
    seed: Seed = 0
    rules: Rules = RULES
    relevant_grade: int | None = option(
        None,
        "A document is relevant from grade",
        "Lowest grade of a relevant document.",
        unset="every grade above the lowest",
    )
    options: AssignmentOptions = field(default_factory=AssignmentOptions)
    expected: str | None = None

    @property
    def fractions(self) -> dict[str, float]:
        """Part → fraction, in their order."""
        return named_parts(self.parts)


@dataclass(frozen=True)
class PreviewRequest(NewSplit):
    """A split that somebody wants to see before it is stored; `folder` is where the preview is written."""

    folder: str = ""


def check_request(request: NewSplit) -> None:
    """Refuse what cannot be asked for.

    Raises
    ------
    InputError: fractions, part names, rules or options; all at once.
    """
    from curation.splits.ties.kinds import problems

    parts, options = request.fractions, request.options
    found = part_problems(parts) + problems(request.rules)
    if options.largest_group is not None and not 0 < options.largest_group <= 1:
        found.append(f"A largest group of {options.largest_group:g}: expected a share above 0 and at most 1")
    if options.undated is not None and not options.by_time:
        found.append("a part for queries without a date goes with a split by time alone")
    elif options.undated is not None and options.undated not in parts:
        found.append(f"Queries without a date in {options.undated}: expected one of {_listed(parts)}")
    if found:
        raise InputError(found)


def named_parts(given: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Part → fraction, in the order given.

    Raises
    ------
    InputError: names that were given twice.
    """
    twice = [name for name, times in Counter(name for name, _ in given).items() if times > 1]
    refuse_problems([f"the part {name!r} was given twice" for name in twice])
    return dict(given)


def part_problems(parts: Mapping[str, float]) -> list[str]:
    """What is wrong with names and fractions; none where they can be split into."""
    found = []
    total = sum(parts.values())
    if not parts or any(not 0 < fraction <= 1 for fraction in parts.values()):
        found.append(f"the parts {_listed(parts) or '(none)'}: expected fractions above 0 and at most 1")
    elif not isclose(total, 1.0, abs_tol=1e-6):
        found.append(f"the parts {_listed(parts)} sum to {total:g}; expected fractions that sum to 1")
    return found + [
        f"the part name {name!r}: expected lower-case letters, digits, - and _"
        for name in parts
        if not _PART.fullmatch(name)
    ]


def _listed(parts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {fraction:g}" for name, fraction in parts.items())
