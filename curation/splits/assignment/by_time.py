"""Assignment by time: the parts in their order, each with the queries that were first asked next.

The first query of a leakage group that was asked decides its part. Its later queries repeat something that
was known by then, so they may not be in a later part. So nothing in a part, nor anything tied to it, was
asked before the part begins. Groups that began at the same moment are never separated: the cut is before or
after all of them, whichever is nearer to the fractions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby

from curation.core.errors import RefusedError
from curation.core.text import amount
from curation.splits.groups import members_of

SHOWN = 5


@dataclass(frozen=True)
class ByTime:
    """A cut by time.

    Attributes
    ----------
    begins: part → when its first group was first asked; parts without a dated group are absent.
    spanning: groups with a query that was first asked after the next part begins.
    late: such queries.
    undated: queries in groups without a known time, assigned to the part that was named for them.
    against: groups whose carried-over part is not the one of the cut.
    """

    begins: dict[str, datetime]
    spanning: int
    late: int
    undated: int
    against: int


def assign_by_time(
    groups: Mapping[str, str],
    times: Mapping[str, datetime],
    parts: Mapping[str, float],
    undated: str | None = None,
    carried: Mapping[str, str] | None = None,
) -> tuple[dict[str, str], ByTime]:
    """Query id → part, and the report of the cut.

    Parameters
    ----------
    parts: part → fraction, the earliest first.
    undated: the part for groups without a known time.
    carried: group → part, of groups whose part is carried over.

    Raises
    ------
    RefusedError: there are groups without a time, and no part for them.
    """
    fixed = carried or {}
    members = members_of(groups)
    began = {
        name: min(times[query] for query in queries if query in times)
        for name, queries in members.items()
        if any(query in times for query in queries)
    }
    unknown = [name for name in members if name not in began and name not in fixed]
    if unknown and undated is None:
        _refuse_undated([query for name in unknown for query in members[name]])
    by_cut = _cut({name: len(members[name]) for name in began}, began, parts)
    part_of = dict.fromkeys(unknown, undated or "") | by_cut | dict(fixed)
    report = ByTime(
        begins=_begins(by_cut, began),
        **_spanning(members, times, by_cut, began, list(parts)),
        undated=sum(len(members[name]) for name in unknown),
        against=sum(by_cut[name] != part for name, part in fixed.items() if name in by_cut),
    )
    return {query_id: part_of[group_id] for query_id, group_id in sorted(groups.items())}, report


def _cut(
    sizes: Mapping[str, int], began: Mapping[str, datetime], parts: Mapping[str, float]
) -> dict[str, str]:
    """Group → part: of the moments between groups those that leave the parts nearest to their fractions, and
    none empty where there are as many moments as parts."""
    ordered = sorted(began, key=lambda name: (began[name], name))
    moments = [(moment, list(names)) for moment, names in groupby(ordered, began.__getitem__)]
    after = [0, *accumulate(sum(sizes[name] for name in names) for _, names in moments)]
    found: dict[str, str] = {}
    start, share = 0, 0.0
    for place, (part, fraction) in enumerate(parts.items(), 1):
        share += fraction
        last = len(moments) - len(parts) + place
        choices = range(start + 1, last + 1) if len(moments) >= len(parts) else range(start, len(after))
        end = min(choices, key=lambda at: (abs(after[at] - share * after[-1]), at))
        end = len(moments) if place == len(parts) else end
        found |= {name: part for _, names in moments[start:end] for name in names}
        start = end
    return found


def _begins(by_cut: Mapping[str, str], began: Mapping[str, datetime]) -> dict[str, datetime]:
    begins: dict[str, datetime] = {}
    for name, part in by_cut.items():
        begins[part] = min(began[name], begins.get(part, began[name]))
    return begins


def _spanning(
    members: Mapping[str, list[str]],
    times: Mapping[str, datetime],
    by_cut: Mapping[str, str],
    began: Mapping[str, datetime],
    order: list[str],
) -> dict[str, int]:
    begins = _begins(by_cut, began)
    late = 0
    spanning = 0
    for name, part in by_cut.items():
        later = [begins[other] for other in order[order.index(part) + 1 :] if other in begins]
        behind = sum(query in times and bool(later) and times[query] >= later[0] for query in members[name])
        late += behind
        spanning += bool(behind)
    return {"spanning": spanning, "late": late}


def _refuse_undated(queries: list[str]) -> None:
    named = ", ".join(queries[:SHOWN]) + (", …" if len(queries) > SHOWN else "")
    raise RefusedError(
        f"{amount(len(queries), 'query', 'queries')} cannot be placed by time: no traffic with a time "
        "has them or a query that "
        f"is tied to them ({named}). Import the log with its times, or name the part that they go to.",
        command="`goldgrade import traffic --time-field` imports times, --undated PART names the part.",
    )
