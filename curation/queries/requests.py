"""What people ask of this room: a draw, a top-up, tags by rule, and the coverage of the corpus."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import floor
from typing import Annotated

from curation.core.errors import InputError, refuse_problems
from curation.core.operation import DEFAULT_MODEL, Needs, Option, Seed, option, out_of_bounds
from curation.core.statistics.allocation import ALLOCATIONS

DESIGNS = ("stratified", "pps")
_NO_SIZE = -1
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*%", re.ASCII)
MIN_DOCUMENTS = 5
"""Documents of a region."""


@dataclass(frozen=True)
class DrawRequest:
    """A sample of the traffic; see `queries.sampling.designs` and `core.statistics.allocation` for the words.

    Attributes
    ----------
    strata: the dimensions that are crossed.
    allocation: None is 'equal', and all that pps can have.
    quotas: stratum → exact number, under any allocation.
    since, until: times, UTC, `until` itself excluded. With either, rows without a known time are left out.
        These and the other limits narrow the part of the traffic that estimates from the sample speak of.
    min_count: how often a query must have been asked within the window.
    exclude_judged: leave out queries that a release holds, or a round shows that is no pilot and no practice.
    group_spellings: draw near-identical spellings as one query, the most asked of them.
    exclude_released: leave out queries that any release holds.
    """

    size: int = option(200, "Queries to draw", "Number of distinct queries to draw.", least=1, by=10)
    seed: Seed = 0
    strata: Sequence[str] = option(
        ("band",),
        "Kinds of queries",
        "Strata: the sample has its share of each. The dimensions are crossed. They are band, segment, "
        "length, cluster, tag:NAME and field:NAME, which is a further field of the log. A cluster is "
        "a region of the coverage map.",
        commas=True,
        others=True,
    )
    design: str = option(
        "stratified", "Design", "Stratified, or pps: probability proportional to traffic.", choices=DESIGNS
    )
    allocation: str | None = option(
        None,
        "How many of each kind",
        "Rule for the shares of the strata. It is equal, proportional (to traffic), or square-root (of "
        "traffic). pps takes equal only.",
        choices=(None, *ALLOCATIONS[1:]),
        unset="equal",
    )
    quotas: Annotated[
        Mapping[str, int],
        Option(
            "Quotas: an exact number from a stratum",
            "STRATUM=N or STRATUM=N%: so many from this stratum. N% is a share of the size. The "
            "others share the rest. Repeatable.",
            flag="--quota",
        ),
    ] = field(default_factory=dict)
    since: datetime | None = option(
        None, "Asked from this time on (UTC)", "Only traffic from this time on, UTC: 2026-01-31T08:00."
    )
    until: datetime | None = option(
        None,
        "Asked before this time (UTC)",
        "Only traffic before this time, UTC. 2026-04-01 ends with March.",
    )
    min_count: int = option(
        1, "Asked at least this often", "Only queries asked at least this many times.", least=1
    )
    exclude_judged: bool = option(
        False,
        "Leave out queries that a round shows or a release holds",
        "Leave out queries that are in a round or a release.",
    )
    group_spellings: bool = option(
        True,
        "Treat spellings that differ by one typo as one query",
        "Treat spellings that differ by one typo as one query. Their traffic is added up.",
    )
    exclude_released: bool = option(
        False, "Leave out queries that any release holds", "Leave out queries that are in any release."
    )
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model of the coverage map",
        "Embedding model of the coverage map. A name or a folder.",
        needs=Needs("only strata by cluster use a model", lambda draw: "cluster" in draw["strata"]),
    )


@dataclass(frozen=True)
class TopUpRequest:
    """More queries for the current sample.

    Attributes
    ----------
    size: of the whole sample. What the quotas leave of it goes to the strata without one, by the sample's
        allocation; None draws what the quotas need.
    quotas: stratum → number that it shall have at least.
    """

    size: int | None = option(
        None,
        "Queries in the whole sample",
        "What the quotas leave of it goes to the strata without one.",
        least=1,
    )
    quotas: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class TagsRequest:
    """Tags by rule for the queries in force; nothing is to be chosen."""


def check_limits(request: DrawRequest) -> None:
    """Raise an InputError for an empty window or a minimum below 1."""
    if request.since and request.until and request.since >= request.until:
        raise InputError(
            f"The time window reaches from {request.since} up to, not including, {request.until}: "
            "it holds no moment. Let it begin before it ends.",
            command="--since comes before --until.",
        )
    refuse_problems(out_of_bounds(DrawRequest, {"min_count": request.min_count}))


@dataclass(frozen=True)
class CoverageRequest:
    """A map of the corpus.

    Attributes
    ----------
    seed: of Leiden; the seeds after it are tried to see how far it decides.
    resolution: γ of the clusters. Nobody chooses it: None has the rule of `queries.coverage.partitions` take
        the finest one that the corpus bears, and a finer one makes regions that other documents would not
        give.
    least_documents: of a region. A cluster with fewer than five is too small to deserve a query, and measures
        over regions of another size could not be compared.
    """

    seed: Seed = 0
    resolution: float | None = None
    least_documents: int = MIN_DOCUMENTS
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model of entities",
        "Embedding model that joins entities: a name or a folder.",
    )


def read_quotas(asked: Sequence[str], size: int | None = None) -> dict[str, int]:
    """Stratum → number, of texts such as `head=50`, or `head=30%` of a sample of `size`, rounded.

    Raises
    ------
    InputError: texts that are no quotas, strata that are named twice, or a share where there is no size.
    """
    parts = [text.rpartition("=") for text in asked]
    numbers = [_quota(number.strip(), size) for _, _, number in parts]
    problems = [
        f"the quota {text!r} is no STRATUM=N or STRATUM=N%; expected for instance head=50 or head=30%"
        for text, (name, _, _), number in zip(asked, parts, numbers, strict=True)
        if not name.strip() or number is None
    ]
    problems += [
        f"the quota {text!r} is a share, and there is no size; expected a number, or the size of the sample"
        for text, number in zip(asked, numbers, strict=True)
        if number == _NO_SIZE
    ]
    names = [name.strip() for name, _, _ in parts]
    problems += [f"{name!r} has two quotas" for name in sorted(set(names)) if names.count(name) > 1]
    refuse_problems(problems)
    return {name: number for name, number in zip(names, numbers, strict=True) if number is not None}


def _quota(text: str, size: int | None) -> int | None:
    """The number that a quota names; `_NO_SIZE` for a share without a size, None for any other text."""
    if text.isascii() and text.isdecimal():
        return int(text)
    share = _SHARE.fullmatch(text)
    if share is None or Fraction(share[1]) > 100:
        return None
    return _NO_SIZE if size is None else floor(Fraction(share[1]) * size / 100 + Fraction(1, 2))
