"""The choice of the queries for which people write answers, and the first reason for leaving a query out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from curation.core.errors import refuse_problems
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.unknown_names import describe_similar_name

IN_QUEUE = "an annotator who still has to judge documents of the query would learn what is relevant"
NOT_CURRENT = "the query is retired, or not in the current sample"
ReasonByQuery = dict[str, str]
"""Query id → the reason to leave the query out, or '' if there is no reason."""


def find_first_reasons(query_ids: Iterable[str], reasons: Mapping[str, Collection[str]]) -> ReasonByQuery:
    """Map each query id to the first reason for leaving out the query, or '' if there is none.

    Parameters
    ----------
    reasons: reason → ids of the queries for which the reason holds.
    """
    return {
        query_id: next((reason for reason, ids in reasons.items() if query_id in ids), "")
        for query_id in sorted(query_ids)
    }


def find_named_queries(known: KnownQueries, names: Sequence[str]) -> list[str]:
    """Find the ids of the queries with the given ids or texts.

    Raises
    ------
    InputError: a name fits no query, or fits several queries; the error lists all problems.
    """
    query_ids, problems, unknown_names = known.find_each(names)
    for name in unknown_names:
        suggestion = describe_similar_name(name, known.alike)
        problems.append(f"no query has the id or text {name!r}{suggestion}")
    refuse_problems(problems)
    return query_ids
