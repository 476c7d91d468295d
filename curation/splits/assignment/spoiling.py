"""Whether a large leakage group spoils a split: it fills most of a part, or keeps parts from their shares.

A group that other queries balance does no harm: of 134 queries, 11 that must stay together leave both parts
at their size. The same share harms where the group alone decides what a part is like.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from curation.splits.assignment.assignment import ALL, Levels, PartShare
from curation.text import amount

MOST = 0.5
"""A group with a larger share of its part's queries makes figures on that part figures of one topic."""
OFF = {"all": (1.0, 0.1), "level": (3.0, 0.25)}
"""How far a part may be from its ideal, as a whole and in a level: queries; a share of the ideal if more."""


def spoiled_by(
    members: Sequence[str],
    parts: Mapping[str, str],
    shares: Sequence[PartShare],
    levels: Levels,
    balanced: bool,
) -> str:
    """What a group spoils, as the end of a sentence about it; '' where it does no harm.

    Parameters
    ----------
    members: the group's queries.
    parts: query id → part.
    balanced: whether parts were to be near their fractions; by time they are not.
    """
    part = parts[members[0]]
    filled = next(share.reached for share in shares if share.part == part and share.dimension == ALL)
    if len(members) > MOST * filled:
        return f"it is {len(members):,} of the {amount(filled, 'query', 'queries')} of {part}"
    held = Counter(column for name in members for column in levels[name])
    held[ALL, ALL] = len(members)
    for share in shares if balanced else ():
        least, ratio = OFF["all" if share.dimension == ALL else "level"]
        off = abs(share.reached - share.ideal)
        if held[share.dimension, share.level] >= off > max(least, ratio * share.ideal):
            of = "" if share.dimension == ALL else f" of the {share.dimension} “{share.level}”"
            return (
                f"{share.part} has {amount(share.reached, 'query', 'queries')}{of} where "
                f"{share.ideal:,.1f} were asked for"
            )
    return ""
