"""What a sample cannot show: thin strata, and too many or too few unanswerable queries.

A gold set that holds no unanswerable query never sees a system that should have kept silent; one with many of
them measures little else. Which queries are unanswerable only people can say, so before anybody has tagged
failure modes the share is unknown, not 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from curation.sampling.designs import Stratum
from curation.sampling.tags.stored_tags import unanswerable_share
from curation.store import Cursor

FEW = 10
"""A stratum with fewer queries is too small for figures of its own."""

LEAST_UNANSWERABLE, MOST_UNANSWERABLE = 0.05, 0.2

_NAMED = 5


def about_strata(strata: Sequence[Stratum]) -> list[str]:
    """Sentences about strata that are empty, missed or thin."""
    empty = [stratum.name for stratum in strata if not stratum.population]
    missed = [f"{s.name} ({s.population:,})" for s in strata if s.population and not s.drawn]
    few = [f"{s.name} ({s.drawn} of {s.population:,})" for s in strata if 0 < s.drawn < FEW]
    warnings = {
        f"No query of the traffic belongs to {_some(empty)}.": empty,
        f"No query was drawn from {_some(missed)}: results will say nothing about these.": missed,
        f"Fewer than {FEW} queries were drawn from {_some(few)}: too few for figures of their own.": few,
    }
    return [sentence for sentence, names in warnings.items() if names]


def about_failure_modes(cursor: Cursor) -> list[str]:
    """A sentence where the unanswerable queries of the current sample are too few, too many or unknown."""
    share = unanswerable_share(cursor)
    if share is None:
        return [
            "How many queries of the sample are unanswerable is unknown: nobody has tagged any with a "
            "failure mode yet. Look through them on the Curate page, or with `goldset tags list`, and tag "
            "those that the corpus cannot answer with `goldset tags set`."
        ]
    tagged, queries = share
    if LEAST_UNANSWERABLE * queries <= tagged <= MOST_UNANSWERABLE * queries:
        return []
    return [
        f"{tagged:,} of {queries:,} queries of the sample ({tagged / queries:.0%}) are tagged unanswerable; "
        f"{LEAST_UNANSWERABLE:.0%} to {MOST_UNANSWERABLE:.0%} would show whether systems keep silent when "
        "they should, without hiding how well they find."
    ]


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
