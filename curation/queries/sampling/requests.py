"""Requests for samples of the traffic, and for more queries in a sample."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import floor
from typing import Annotated

from curation.core.errors import InputError, refuse_problems
from curation.core.request import DEFAULT_MODEL, Needs, Option, Seed, describe_out_of_bounds, option
from curation.core.statistics.stratified_sampling import ALLOCATIONS

DESIGNS = ("stratified", "pps")
_NO_SIZE = -1
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*%", re.ASCII)


@dataclass(frozen=True)
class DrawRequest:
    """A request for a sample of the traffic; `queries.sampling.designs` and
    `core.statistics.stratified_sampling` define the designs, dimensions and allocations.

    Attributes
    ----------
    strata: dimensions whose crossed values make the strata.
    allocation: rule for the shares of the strata; None is 'equal', the only allocation of pps.
    quotas: stratum → exact number, under any allocation.
    since, until: time window, UTC, without `until` itself. With a window, rows without a known time are left
        out. The time window and other limits narrow the traffic that estimates from the sample are about.
    min_count: smallest number of times that a query was asked within the window.
    exclude_judged: leave out queries of releases, and of rounds other than pilots and practice.
    group_spellings: draw near-identical spellings as one query, the most asked spelling.
    exclude_released: leave out queries of releases.
    """

    size: int = option(200, "Queries to draw", "Number of distinct queries to draw.", minimum=1, step=10)
    seed: Seed = 0
    strata: Sequence[str] = option(
        ("band",),
        "Dimensions of the strata",
        "Dimensions whose values, crossed, make the strata. Choose from band, segment, length, cluster, "
        "tag:NAME and field:NAME. A cluster is a region of the coverage map. field:NAME is an additional "
        "field of the log.",
        is_comma_separated=True,
        accepts_others=True,
    )
    design: str = option(
        "stratified", "Design", "Stratified, or pps (probability proportional to traffic).", choices=DESIGNS
    )
    allocation: str | None = option(
        None,
        "Allocation to the strata",
        "Rule for the shares of the strata. Choose equal, proportional (to traffic), or square-root (of "
        "traffic). With the design pps, only equal is possible.",
        choices=(None, *ALLOCATIONS[1:]),
        unset="equal",
    )
    quotas: Annotated[
        Mapping[str, int],
        Option(
            "Quotas: number of queries from a stratum",
            "Number of queries from a stratum: STRATUM=N or STRATUM=N%. N% is N percent of the sample size. "
            "Strata without a quota share the rest of the sample. Repeatable.",
            flag="--quota",
        ),
    ] = field(default_factory=dict)
    since: datetime | None = option(
        None, "Asked from this time on (UTC)", "Use traffic since this UTC time, such as 2026-01-31T08:00."
    )
    until: datetime | None = option(
        None,
        "Asked before this time (UTC)",
        "Use only traffic before this time (UTC). With 2026-04-01, March is the last month.",
    )
    min_count: int = option(
        1, "Asked at least this often", "Draw only queries that were asked this often or more.", minimum=1
    )
    exclude_judged: bool = option(
        False,
        "Leave out queries that are in a round or a release",
        "Leave out queries that are in a round or a release.",
    )
    group_spellings: bool = option(
        True,
        "Treat spellings that differ by one typo as one query",
        "Treat spellings one typo apart as one query. The traffic of the spellings is added up.",
    )
    exclude_released: bool = option(
        False, "Leave out queries that are in any release", "Leave out queries that are in any release."
    )
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model for the coverage map",
        "Embedding model for the coverage map: a name or a folder.",
        needs=Needs("only strata by cluster use a model", lambda draw: "cluster" in draw["strata"]),
    )


@dataclass(frozen=True)
class TopUpRequest:
    """A request for more queries in the current sample.

    Attributes
    ----------
    size: size of the whole sample. Strata without a quota share the rest by the sample's allocation; None
        draws only what the quotas need.
    quotas: stratum → smallest number of its queries in the sample.
    """

    size: int | None = option(
        None,
        "Queries in the whole sample",
        "Size of the whole sample. Strata without a quota share the rest of the sample.",
        minimum=1,
    )
    quotas: Mapping[str, int] = field(default_factory=dict)


def check_limits(request: DrawRequest) -> None:
    """Reject an empty time window, or a minimum count below 1."""
    if request.since and request.until and request.since >= request.until:
        raise InputError(
            f"The time window from {request.since} to {request.until} (exclusive) is empty. The start of "
            "the window must be before its end.",
            command="Give a time in --since that is before the time in --until.",
        )
    refuse_problems(describe_out_of_bounds(DrawRequest, {"min_count": request.min_count}))


def read_quotas(texts: Sequence[str], size: int | None = None) -> dict[str, int]:
    """Read quotas, stratum → number, from texts such as `head=50`, or `head=30%` of a sample of `size`.

    Raises
    ------
    InputError: a text is not a quota, a stratum is named twice, or a quota is a share and no size is given.
    """
    parts = [text.rpartition("=") for text in texts]
    numbers = [_read_quota(number.strip(), size) for _, _, number in parts]
    problems = [
        f"the quota {text!r} is not STRATUM=N or STRATUM=N%; expected a quota such as head=50 or head=30%"
        for text, (name, _, _), number in zip(texts, parts, numbers, strict=True)
        if not name.strip() or number is None
    ]
    problems += [
        f"the quota {text!r} is a percentage, which needs a sample size; give a number instead, or the "
        "size of the sample"
        for text, number in zip(texts, numbers, strict=True)
        if number == _NO_SIZE
    ]
    names = [name.strip() for name, _, _ in parts]
    problems += [f"{name!r} has two quotas" for name in sorted(set(names)) if names.count(name) > 1]
    refuse_problems(problems)
    return {name: number for name, number in zip(names, numbers, strict=True) if number is not None}


def _read_quota(text: str, size: int | None) -> int | None:
    """Return the number in a quota: `_NO_SIZE` for a share without a size, None for other texts."""
    if text.isascii() and text.isdecimal():
        return int(text)
    share = _SHARE.fullmatch(text)
    if share is None or Fraction(share[1]) > 100:
        return None
    return _NO_SIZE if size is None else floor(Fraction(share[1]) * size / 100 + Fraction(1, 2))
