"""Assignment of queries to parts by time: the earliest part gets the queries that were first asked earliest.

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
from curation.splits.assignment import members_of


@dataclass(frozen=True)
class ByTime:
    """Facts about a split of the queries by time.

    Attributes
    ----------
    begins: part → when its first group was first asked; a part without a dated group is absent.
    spanning: groups with a query that was first asked after the next part begins.
    late: queries of these groups that were first asked after the next part begins.
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
        """Return sentences on the begin of each part, and on queries on the wrong side of a cut in time."""
        begins = "; ".join(f"{part} from {time:%Y-%m-%d %H:%M:%S}" for part, time in self.begins.items())
        late = pluralize(self.late, "query", "queries")
        undated = pluralize(self.undated, "query has", "queries have")
        against = pluralize(self.against, "group stays", "groups stay")
        return [
            f"By time: {begins}. {self.spanning:,} groups span a cut in time, and their earliest query "
            f"decided their part. These groups have {late} first asked after the begin of the next part.",
            *([f"{undated} no known time and went to the earliest part."] if self.undated else []),
            *([f"{against} in the part from a release, against the cut in time."] if self.against else []),
        ]


def assign_by_time(
    groups: Mapping[str, str],
    times: Mapping[str, datetime],
    parts: Mapping[str, float],
    carried: Mapping[str, str] | None = None,
) -> tuple[dict[str, str], ByTime]:
    """Return a map from query id to part, and facts about the cuts in time.

    Parameters
    ----------
    parts: part → fraction, the earliest part first; groups without a known time go to the earliest part.
    carried: group → part, for groups whose part is carried over.
    """
    fixed = carried or {}
    members = members_of(groups)
    asked = {name: [times[query] for query in queries if query in times] for name, queries in members.items()}
    began = {name: min(moments) for name, moments in asked.items() if moments}
    undated = [name for name in members if name not in began and name not in fixed]
    by_cut = _cut_by_time({name: len(members[name]) for name in began}, began, parts)
    begins: dict[str, datetime] = {}
    for name, part in by_cut.items():
        begins.setdefault(part, began[name])  # the cut is in the order of time
    ends = dict(zip(begins, list(begins.values())[1:], strict=False))
    late = [sum(time >= ends[part] for time in asked[name]) for name, part in by_cut.items() if part in ends]
    report = ByTime(
        begins=begins,
        spanning=sum(map(bool, late)),
        late=sum(late),
        undated=sum(len(members[name]) for name in undated),
        against=sum(by_cut[name] != part for name, part in fixed.items() if name in by_cut),
    )
    part_of = dict.fromkeys(undated, next(iter(parts))) | by_cut | dict(fixed)
    return {query_id: part_of[group_id] for query_id, group_id in sorted(groups.items())}, report


def _cut_by_time(
    sizes: Mapping[str, int], began: Mapping[str, datetime], parts: Mapping[str, float]
) -> dict[str, str]:
    """Return a map from group to part, with the cuts in time that bring the parts nearest to their fractions.

    No part is empty if the groups began at as many moments as there are parts, or more.
    """
    ordered = sorted(began, key=lambda name: (began[name], name))
    moments = [(moment, list(names)) for moment, names in groupby(ordered, began.__getitem__)]
    after = [0, *accumulate(sum(sizes[name] for name in names) for _, names in moments)]
    part_of: dict[str, str] = {}
    start, share = 0, 0.0
    for index, (part, fraction) in enumerate(parts.items(), 1):
        share += fraction
        last = len(moments) - len(parts) + index
        choices = range(start + 1, last + 1) if len(moments) >= len(parts) else range(start, len(after))
        end = min(choices, key=lambda at: (abs(after[at] - share * after[-1]), at))
        end = len(moments) if index == len(parts) else end
        part_of |= {name: part for _, names in moments[start:end] for name in names}
        start = end
    return part_of
