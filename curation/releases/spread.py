"""How a figure varies among the queries of a release, for Neyman's allocation of a later sample.

The figure is nDCG@10 of an imported run on the release's grades. Without a run it is the share of a query's
judged candidates that are relevant, which is high where many relevant documents exist. Queries of a stratum
weigh by the inverse of their inclusion probability. A stratum with fewer than `variances.LEAST` queries
borrows the mean of all queries and the pooled variance within strata. All figures are rounded to six
significant digits, so that the same draw follows on any machine.

Grades of sealed parts are not read. The variance of a few queries would give away their grades, and those
leave through the gate alone (`releases.seal`). The split balances its parts within strata, so the other parts
estimate the same with fewer queries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import fsum, log2
from typing import Any

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.runs import RunEntry, find_run, run_entries
from curation.people.seal_access import sealed_parts
from curation.queries.sampling.variances import LEAST, WITHOUT_NEYMAN, FigureSpread, Moments, six_digits
from curation.releases.verify import FrozenRelease, load_release
from curation.store import Store

DEPTH = 10
NDCG = f"nDCG@{DEPTH}, linear gain"
SHARE = "share of judged candidates that are relevant"

Grades = dict[str, dict[str, int]]


def ndcg(grades: Mapping[str, int], ranking: Sequence[str], depth: int = DEPTH) -> float:
    """nDCG of one query as trec_eval has it: gain is the grade, nothing relevant is 0."""
    ideal = sorted((max(grade, 0) for grade in grades.values()), reverse=True)
    best = _discounted(ideal[:depth])
    got = [max(grades.get(document, 0), 0) for document in ranking[:depth]]
    return _discounted(got) / best if best else 0.0


def spread_if_asked(store: Store, release: str | None, run: str | None) -> FigureSpread | None:
    """The spread in a release, or None without one; an InputError for a run without a release."""
    if release is not None:
        return read_spread(store, release, run)
    if run is not None:
        raise InputError(WITHOUT_NEYMAN)
    return None


def read_spread(store: Store, release: str, run: str | None = None) -> FigureSpread:
    """How the figure varies in a release, by the strata that its queries were drawn from.

    Raises
    ------
    NotFoundError: there is no such release or run.
    RefusedError: no stratum of the release has `LEAST` queries of its sample with a figure, outside its
        sealed parts; it is not as it was frozen, or a newer goldgrade froze it.
    """
    frozen = load_release(store, release)
    with store.reading() as cursor:
        found = find_run(cursor, run) if run else None
        entries = run_entries(cursor, found) if found else None
    ranked = None if entries is None else _ranked(entries)
    rows = frozen.rows("queries")
    sealed = sealed_parts(frozen.header)
    hidden = {query["query_id"] for query in rows if query["part"] in sealed}
    figure, figures = _figures(frozen, hidden, ranked)
    queries, left_out = _usable_queries(rows, hidden, figures)
    unranked = 0 if ranked is None else sum(query["query_id"] not in ranked for query in queries)
    strata, pooled = _by_stratum(queries, figures)
    if not strata:
        raise RefusedError(
            f"The release {release!r} has no stratum with {LEAST} queries of its sample that have a figure "
            "and are in no sealed part, so nothing is known about how figures vary. Choose another "
            "allocation or release."
        )
    run_id = found.run_id if found else None
    return FigureSpread(release, frozen.row.release_id, run_id, figure, strata, pooled, unranked, left_out)


def _ranked(entries: Iterable[RunEntry]) -> dict[str, list[str]]:
    """Query → documents, best first."""
    ranked: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        ranked[entry.query_id].append(entry.document_id)
    return dict(ranked)


def _figures(
    frozen: FrozenRelease, hidden: Collection[str], ranked: Mapping[str, Sequence[str]] | None
) -> tuple[str, dict[str, float]]:
    """The figure's name, and what it is for each query that is not hidden and has a grade that counts."""
    grades: Grades = defaultdict(dict)
    for qrel in frozen.rows("qrels"):
        if qrel["query_id"] not in hidden:
            grades[qrel["query_id"]][qrel["document_id"]] = qrel["grade"]
    if ranked is not None:
        return NDCG, {query: ndcg(graded, ranked.get(query, [])) for query, graded in grades.items()}
    relevant = int(frozen.rows("split")[0]["parameters"]["relevant_grade"])
    figures = _shares(grades, relevant, _proposed_at_random(frozen.rows("candidates")))
    return f"{SHARE} (grade {relevant} or more)", figures


def _shares(grades: Grades, relevant: int, at_random: set[tuple[str, str]]) -> dict[str, float]:
    """Query → share; a document that only chance proposed says nothing about what systems find."""
    shares = {}
    for query, graded in grades.items():
        counted = [grade for document, grade in graded.items() if (query, document) not in at_random]
        if counted:
            shares[query] = sum(grade >= relevant for grade in counted) / len(counted)
    return shares


def _proposed_at_random(candidates: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """The pairs that nothing but a random draw proposed."""
    systems: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in candidates:
        systems[row["query_id"], row["document_id"]].add(row["system"])
    return {pair for pair, proposed in systems.items() if proposed == {"random"}}


def _usable_queries(
    queries: Sequence[Mapping[str, Any]], hidden: Collection[str], figures: Mapping[str, float]
) -> tuple[list[Mapping[str, Any]], dict[str, int]]:
    """The queries that the release's sample drew and that have a figure; the others by reason."""
    left_out: Counter[str] = Counter()
    usable = []
    for query in queries:
        if query["inclusion_probability"] is None:
            left_out["they are not of the sample that was in force when it was frozen"] += 1
        elif query["query_id"] in hidden:
            left_out["they are in a sealed part"] += 1
        elif query["query_id"] not in figures:
            left_out["none of the documents that the figure counts is graded"] += 1
        else:
            usable.append(query)
    return usable, dict(left_out)


def _by_stratum(
    queries: Sequence[Mapping[str, Any]], figures: Mapping[str, float]
) -> tuple[dict[str, Moments], Moments]:
    drawn: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for query in queries:
        drawn[query["stratum"]].append((figures[query["query_id"]], 1 / query["inclusion_probability"]))
    strata = {name: _moments(rows) for name, rows in sorted(drawn.items()) if len(rows) >= LEAST}
    every = [row for rows in drawn.values() for row in rows]
    free = sum(found.queries - 1 for found in strata.values())
    within = fsum((found.queries - 1) * found.variance for found in strata.values()) / max(free, 1)
    return strata, Moments(len(every), _mean(every), six_digits(within))


def _moments(rows: Sequence[tuple[float, float]]) -> Moments:
    """Of (figure, weight) of at least two queries."""
    mean, number = _mean(rows), len(rows)
    squares = fsum(weight * (figure - mean) ** 2 for figure, weight in rows)
    variance = squares / fsum(weight for _, weight in rows) * number / (number - 1)
    return Moments(number, mean, six_digits(variance))


def _mean(rows: Sequence[tuple[float, float]]) -> float:
    total = fsum(weight for _, weight in rows)
    return six_digits(fsum(weight * figure for figure, weight in rows) / total) if rows else 0.0


def _discounted(gains: Sequence[int]) -> float:
    return fsum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))
