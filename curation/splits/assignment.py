"""Assignment: whole leakage groups dealt to the parts, so that sizes and strata come near the ideal.

Greedy, largest groups first. A group goes to a part that it does not overfill, and among those to the one
that needs its strata most for its size; where it overfills all, to one that still lacks queries. Therefore
no part ends further from its ideal than the largest group is large. Of several seeded orders among groups of
equal size the one nearest to the ideal is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from curation.splits.groups import members_of
from curation.text import digest

TRIES = 16
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Share:
    """How many queries of one stratum a part should have and has; stratum 'all' is their sum."""

    part: str
    stratum: str
    ideal: float
    reached: int


class _Group(NamedTuple):
    group_id: str
    strata: Counter[str]
    size: int


def assign_parts(
    groups: Mapping[str, str], strata: Mapping[str, str], parts: Mapping[str, float], seed: int
) -> dict[str, str]:
    """Query id → part.

    Parameters
    ----------
    groups: query id → leakage group.
    strata: query id → stratum.
    parts: part → fraction; they sum to 1.
    """
    members = members_of(groups)
    counted = [
        _Group(group_id, Counter(strata[query] for query in queries), len(queries))
        for group_id, queries in members.items()
    ]
    tries = [_deal(counted, parts, digest("assign", seed, number)) for number in range(TRIES)]
    best = min(tries, key=lambda dealt: _distance(dealt, counted, parts))
    return {query_id: best[group_id] for query_id, group_id in sorted(groups.items())}


def shares(
    assigned: Mapping[str, str], strata: Mapping[str, str], parts: Mapping[str, float]
) -> tuple[Share, ...]:
    """Ideal and reached number of queries, for each part as a whole and in each stratum."""
    totals = Counter(strata[query_id] for query_id in assigned)
    reached = Counter((part, strata[query_id]) for query_id, part in assigned.items())
    rows = []
    for part, fraction in parts.items():
        whole = sum(reached[part, stratum] for stratum in totals)
        rows.append(Share(part, "all", fraction * len(assigned), whole))
        rows.extend(Share(part, s, fraction * totals[s], reached[part, s]) for s in sorted(totals))
    return tuple(rows)


def _deal(groups: list[_Group], parts: Mapping[str, float], salt: str) -> dict[str, str]:
    totals = sum((group.strata for group in groups), Counter[str]())
    size = sum(totals.values())
    lacking = {part: fraction * size for part, fraction in parts.items()}
    wanted = {part: {s: fraction * totals[s] for s in totals} for part, fraction in parts.items()}
    dealt: dict[str, str] = {}
    for group in sorted(groups, key=lambda group: (-group.size, digest(salt, group.group_id))):
        fitting = [part for part in parts if lacking[part] >= group.size - _ROUNDING]
        choices = fitting or [part for part in parts if lacking[part] > _ROUNDING] or list(parts)
        part = max(choices, key=lambda part: (_need(group, lacking, wanted, parts, part), digest(salt, part)))
        dealt[group.group_id] = part
        lacking[part] -= group.size
        for stratum, count in group.strata.items():
            wanted[part][stratum] -= count
    return dealt


def _need(
    group: _Group,
    lacking: Mapping[str, float],
    wanted: Mapping[str, Mapping[str, float]],
    parts: Mapping[str, float],
    part: str,
) -> float:
    """How much a part lacks of what the group has, for the part's size."""
    missing = sum(count * wanted[part][stratum] for stratum, count in group.strata.items())
    return (missing + group.size * lacking[part]) / parts[part]


def _distance(dealt: Mapping[str, str], groups: list[_Group], parts: Mapping[str, float]) -> float:
    """Sum of squared distances from the ideal over parts and strata, the parts' sizes included."""
    totals = sum((group.strata for group in groups), Counter[str]())
    gap = {(part, s): -fraction * totals[s] for part, fraction in parts.items() for s in totals}
    for group in groups:
        for stratum, count in group.strata.items():
            gap[dealt[group.group_id], stratum] += count
    sizes = [sum(gap[part, stratum] for stratum in totals) for part in parts]
    return sum(value**2 for value in gap.values()) + sum(value**2 for value in sizes)
