"""Assignment of queries to the parts of a split by time: queries asked first go to earlier parts.

The earliest query of a leakage group decides the part of the whole group. So no query of a leakage group was
asked before its part begins. Groups that began at the same moment stay in one part: the cut is before or
after all these groups, whichever is nearer to the requested fractions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby

from curation.core.text import pluralize
from curation.splits.assignment import Fractions, Groups, Parts, list_members


@dataclass(frozen=True)
class ByTime:
    """Facts about a split by time: when parts begin, and which queries are on the wrong side.

    Attributes
    ----------
    begins: part → time when its first group was first asked; a part without a dated group is absent.
    spanning: groups with a query that was first asked after the next part begins.
    late: queries of the spanning groups that were first asked after the next part begins.
    undated: queries in groups without a known time, which are in the first part.
    against: groups that keep the part of a release, although the cut gives them a different part.
    """

    begins: dict[str, datetime]
    spanning: int
    late: int
    undated: int
    against: int

    @property
    def sentences(self) -> list[str]:
        """Describe when each part begins, and which queries are on the wrong side of a cut in time."""
        begins = "; ".join(f"{part} from {time:%Y-%m-%d %H:%M:%S}" for part, time in self.begins.items())
        late = pluralize(self.late, "query", "queries")
        undated = pluralize(self.undated, "query has", "queries have")
        against = pluralize(self.against, "group stays", "groups stay")
        return [
            f"Parts by time: {begins}. {self.spanning:,} groups span the boundary of two parts, and their "
            f"earliest query decided their part. These groups have {late} first asked after the next part "
            "begins.",
            *([f"{undated} no known time and went to the earliest part."] if self.undated else []),
            *(
                [f"{against} in the part of an earlier release, although the time does not match."]
                if self.against
                else []
            ),
        ]


def assign_by_time(
    groups: Groups, times: Mapping[str, datetime], parts: Fractions, carried: Parts | None = None
) -> tuple[dict[str, str], ByTime]:
    """Assign queries to parts of a split by time; return query id → part, and facts about the cuts in time.

    Parameters
    ----------
    parts: part → fraction, the earliest part first; groups without a known time go to the earliest part.
    carried: group → part, for groups whose part is carried over.
    """
    carried_parts = carried or {}
    members = list_members(groups)
    query_times = {
        group_id: [times[query_id] for query_id in query_ids if query_id in times]
        for group_id, query_ids in members.items()
    }
    first_times = {group_id: min(group_times) for group_id, group_times in query_times.items() if group_times}
    undated = members.keys() - first_times.keys() - carried_parts.keys()
    sizes = {group_id: len(members[group_id]) for group_id in first_times}
    part_by_time = _cut_by_time(sizes, first_times, parts)
    begins: dict[str, datetime] = {}
    for group_id, part in part_by_time.items():
        begins.setdefault(part, first_times[group_id])  # the cut follows the order of time
    ends = dict(zip(begins, list(begins.values())[1:], strict=False))
    late_counts = [
        sum(time >= ends[part] for time in query_times[group_id])
        for group_id, part in part_by_time.items()
        if part in ends
    ]
    n_undated = sum(len(members[group_id]) for group_id in undated)
    against = sum(part_by_time.get(group_id, part) != part for group_id, part in carried_parts.items())
    report = ByTime(begins, sum(map(bool, late_counts)), sum(late_counts), n_undated, against)
    part_of = dict.fromkeys(undated, next(iter(parts))) | part_by_time | dict(carried_parts)
    return {query_id: part_of[group_id] for query_id, group_id in sorted(groups.items())}, report


def _cut_by_time(sizes: Mapping[str, int], times: Mapping[str, datetime], parts: Fractions) -> dict[str, str]:
    """Cut the leakage groups by time into parts nearest to their fractions; return group → part.

    No part is empty if the groups began at as many different times as there are parts, or more.
    """
    ordered = sorted(times, key=lambda group_id: (times[group_id], group_id))
    simultaneous = [list(group_ids) for _, group_ids in groupby(ordered, times.__getitem__)]
    cumulative = [0, *accumulate(sum(map(sizes.__getitem__, group_ids)) for group_ids in simultaneous)]
    part_of: dict[str, str] = {}
    start, cumulative_share = 0, 0.0
    for number, (part, fraction) in enumerate(parts.items(), 1):
        cumulative_share += fraction
        target = cumulative_share * cumulative[-1]
        if len(simultaneous) >= len(parts):
            choices = range(start + 1, len(simultaneous) - len(parts) + number + 1)
        else:
            choices = range(start, len(cumulative))
        end = min(choices, key=lambda cut: (abs(cumulative[cut] - target), cut))
        if number == len(parts):
            end = len(simultaneous)
        part_of |= {group_id: part for group_ids in simultaneous[start:end] for group_id in group_ids}
        start = end
    return part_of
