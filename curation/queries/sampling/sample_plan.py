"""What a draw is asked for, and how that is written down with the sample.

Parameters are plain JSON. Rare options are stored only where they were used, so that a sample keeps its id
when goldgrade gets another option. Releases and runs are stored by id: a name belongs to the project, and a
sample's parameters become part of a release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from math import floor
from typing import Any

from curation.core.errors import refuse_problems
from curation.core.operation import out_of_bounds
from curation.queries.sampling.frame.limits import Limits
from curation.queries.sampling.request import DESIGNS, DrawRequest, SamplingPlan
from curation.queries.sampling.strata import TAG, names_after
from curation.queries.sampling.variances import (
    WITHOUT_NEYMAN,
    FigureSpread,
)

NO_SIZE = -1
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*%", re.ASCII)


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
        if number == NO_SIZE
    ]
    names = [name.strip() for name, _, _ in parts]
    problems += [f"{name!r} has two quotas" for name in sorted(set(names)) if names.count(name) > 1]
    refuse_problems(problems)
    return {name: number for name, number in zip(names, numbers, strict=True) if number is not None}


def _quota(text: str, size: int | None) -> int | None:
    """The number that a quota says; `NO_SIZE` for a share of nothing, None for what is none."""
    if text.isascii() and text.isdecimal():
        return int(text)
    share = _SHARE.fullmatch(text)
    if share is None or Fraction(share[1]) > 100:
        return None
    return NO_SIZE if size is None else floor(Fraction(share[1]) * size / 100 + Fraction(1, 2))


def check_plan(size: int, plan: SamplingPlan, spread: FigureSpread | None) -> None:
    """Raise an InputError with everything that is impossible; `spread` goes with neyman alone."""
    problems = out_of_bounds(DrawRequest, {"size": size})
    if plan.design not in DESIGNS:
        problems.append(f"{plan.design!r} is no design; expected one of {', '.join(DESIGNS)}.")
    if plan.design == "pps" and (plan.allocation or plan.quotas):
        problems.append(
            "The design pps gives each stratum what its traffic makes likely, and takes no allocation or "
            "quota. Leave these out, or draw with the design stratified."
        )
    if plan.allocation == "neyman" and not spread:
        problems.append(
            "The allocation neyman needs to know how much figures vary in each stratum. Name a release to "
            "learn from, one that was sampled by the same strata."
        )
    if plan.allocation != "neyman" and spread:
        problems.append(WITHOUT_NEYMAN)
    refuse_problems(problems)


def parameters_of(
    size: int,
    seed: int,
    plan: SamplingPlan,
    limits: Limits,
    releases: Sequence[str],
    model: str,
    map_id: str | None = None,
) -> dict[str, Any]:
    """What is stored of a draw; `releases` are the ids of those that the limits leave out by name, and
    `map_id` is that of the coverage map whose clusters are strata."""
    # No tag uses a model any more; it stays, so that the same draw has the same id as before.
    used = {
        "exclude_released": limits.exclude_released,
        "exclude_releases": list(releases),
        "model": model if names_after(TAG, plan.strata) else None,
        "coverage_map": map_id,
    }
    return {
        "size": size,
        "seed": seed,
        "design": plan.design,
        "strata": list(plan.strata),
        "allocation": None if plan.design == "pps" else plan.allocation or "equal",
        "quotas": dict(plan.quotas),
        "head": plan.head,
        "torso": plan.torso,
        "since": limits.since.isoformat() if limits.since else None,
        "until": limits.until.isoformat() if limits.until else None,
        "min_count": limits.min_count,
        "exclude_judged": limits.exclude_judged,
        "group_spellings": limits.group_spellings,
    } | {name: value for name, value in used.items() if value}


def limits_of(parameters: Mapping[str, Any]) -> Limits:
    """The limits that a stored sample was drawn within."""
    since, until = (
        datetime.fromisoformat(parameters[end]) if parameters[end] else None for end in ("since", "until")
    )
    return Limits(
        *(since, until, parameters["min_count"], parameters["exclude_judged"], parameters["group_spellings"]),
        exclude_released=parameters.get("exclude_released", False),
        exclude_releases=tuple(parameters.get("exclude_releases", ())),
    )
