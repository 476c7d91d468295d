"""How much a figure varies among the queries of each stratum, for Neyman's allocation: told by a release.

A mean over searches adds up figure × traffic, y·x, over the queries of a stratum. The traffic x of every
query is known; of the figure y the release knows a sample. Taken as independent within a stratum, their
product has the variance (Goodman 1960, On the exact variance of products, equation 2)

    S²(x·y) = S²(y) · mean(x²) + mean(y)² · S²(x)

with the figure's mean and variance from the release and the traffic's from the frame that is drawn from. So a
log that has grown since changes nothing about what was learned, and one search-engine query asked 100,000
times does not have to be in the release for its weight to be known.

The figure is nDCG@10 of an imported run on the release's grades, or without a run the share of a query's
judged candidates that are relevant: a stand-in, which is high where many relevant documents exist. Within a
stratum queries weigh by the inverse of their inclusion probability; with equal ones that is the usual mean
and s². Where a stratum has fewer than `LEAST` queries in the release, the mean of all and the pooled
within-stratum variance stand in. All is rounded to six digits, so that the same draw follows on any machine.

Only parts that are not sealed are looked at. A variance of a few queries says something of each of their
grades, and those of a sealed part leave through the gate alone (`releases.seal`). The split balances its
parts within strata, so the others tell the same with fewer queries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from math import fsum, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.errors import RefusedError
from curation.releases.seal import sealed_parts
from curation.releases.verify import Opened, opened
from curation.sampling.strata import Labels
from curation.sources.runs import RunEntry, find_run, run_entries
from curation.store import Store

LEAST = 2
DEPTH = 10
NDCG = f"nDCG@{DEPTH}, linear gain"
SHARE = "share of judged candidates that are relevant"

Grades = dict[str, dict[str, int]]


class Moments(NamedTuple):
    """Mean and variance (divisor n - 1) of a figure among n queries."""

    queries: int
    mean: float
    variance: float


class Spread(NamedTuple):
    """What a release tells of a figure.

    Attributes
    ----------
    figure: its name.
    strata: stratum of the release → moments, where it has `LEAST` queries.
    pooled: mean of all, and the variance within strata.
    unranked: queries of its sample that the run does not have; their figure is 0.
    left_out: reason → number of the release's queries.
    """

    release: str
    release_id: str
    run_id: str | None
    figure: str
    strata: dict[str, Moments]
    pooled: Moments
    unranked: int
    left_out: dict[str, int]


class Variances(NamedTuple):
    """S² of figure × traffic for each stratum of a frame, in order; `pooled` names those that borrow."""

    values: list[float]
    pooled: list[str]


def ndcg(grades: Mapping[str, int], ranking: Sequence[str], depth: int = DEPTH) -> float:
    """nDCG of one query as trec_eval has it: gain is the grade, nothing relevant is 0."""
    ideal = sorted((max(grade, 0) for grade in grades.values()), reverse=True)
    best = _discounted(ideal[:depth])
    got = [max(grades.get(document, 0), 0) for document in ranking[:depth]]
    return _discounted(got) / best if best else 0.0


def read_spread(store: Store, release: str, run: str | None = None) -> Spread:
    """How the figure varies in a release, by the strata that its queries were drawn from.

    Raises
    ------
    NotFoundError: there is no such release or run.
    RefusedError: no stratum of the release has `LEAST` queries of its sample with a figure, outside its
        sealed parts; it is not as it was frozen, or a newer goldset froze it.
    """
    frozen = opened(store, release)
    with store.reading() as cursor:
        found = find_run(cursor, run) if run else None
        entries = run_entries(cursor, found) if found else None
    ranked = None if entries is None else _ranked(entries)
    rows = frozen.rows("queries")
    sealed = sealed_parts(frozen.header)
    hidden = {query["query_id"] for query in rows if query["part"] in sealed}
    figure, figures = _figures(frozen, hidden, ranked)
    queries, left_out = _that_tell(rows, hidden, figures)
    unranked = 0 if ranked is None else sum(query["query_id"] not in ranked for query in queries)
    strata, pooled = _by_stratum(queries, figures)
    if not strata:
        raise RefusedError(
            f"The release {release!r} has no stratum with {LEAST} queries of its sample that have a figure "
            "and are in no sealed part, so nothing is known about how figures vary. Choose another "
            "allocation or release."
        )
    run_id = found.run_id if found else None
    return Spread(release, frozen.row.release_id, run_id, figure, strata, pooled, unranked, left_out)


def variances_of(spread: Spread, traffic: NDArray[np.int64], strata: Labels) -> Variances:
    """The variance of figure × traffic in each stratum of a frame.

    Raises
    ------
    RefusedError: the release knows none of these strata.
    """
    order = np.argsort(strata.codes, kind="stable")
    ends = np.cumsum(np.bincount(strata.codes, minlength=len(strata.names)))
    parts = np.split(traffic[order], ends[:-1])
    held = [name for name, part in zip(strata.names, parts, strict=True) if len(part)]
    if not spread.strata.keys() & set(held):
        raise RefusedError(
            f"None of the strata of this draw ({_some(held)}) is one of those that the release "
            f"{spread.release!r} was sampled by ({_some(list(spread.strata))}). Draw with the same "
            "--strata, or choose another allocation."
        )
    values = [
        _product(spread.strata.get(name, spread.pooled), part) if len(part) else 0.0
        for name, part in zip(strata.names, parts, strict=True)
    ]
    return Variances(values, [name for name in held if name not in spread.strata])


def cautions(spread: Spread, variances: Variances) -> list[str]:
    """What the reader of the sample should know about its variances, in sentences."""
    told = [f"The variances are those of {spread.figure} in the release {spread.release!r}."]
    if variances.pooled:
        told.append(
            f"The release has fewer than {LEAST} queries with a figure of {_some(variances.pooled)}: their "
            "variance is the one within all other strata, pooled."
        )
    if spread.unranked:
        told.append(
            f"The run has no result for {spread.unranked:,} queries of the release's sample: "
            "their figure is 0."
        )
    told += [
        f"{count:,} queries of the release tell nothing about the variances: {reason}."
        for reason, count in spread.left_out.items()
    ]
    return told


def _ranked(entries: Iterable[RunEntry]) -> dict[str, list[str]]:
    """Query → documents, best first."""
    ranked: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        ranked[entry.query_id].append(entry.document_id)
    return dict(ranked)


def _figures(
    frozen: Opened, hidden: Collection[str], ranked: Mapping[str, Sequence[str]] | None
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


def _that_tell(
    queries: Sequence[Mapping[str, Any]], hidden: Collection[str], figures: Mapping[str, float]
) -> tuple[list[Mapping[str, Any]], dict[str, int]]:
    """The queries that the release's sample drew and that have a figure; the others by reason."""
    left_out: Counter[str] = Counter()
    telling = []
    for query in queries:
        if query["inclusion_probability"] is None:
            left_out["they are not of the sample that was in force when it was frozen"] += 1
        elif query["query_id"] in hidden:
            left_out["they are in a sealed part"] += 1
        elif query["query_id"] not in figures:
            left_out["none of the documents that the figure counts is graded"] += 1
        else:
            telling.append(query)
    return telling, dict(left_out)


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
    return strata, Moments(len(every), _mean(every), _rounded(within))


def _moments(rows: Sequence[tuple[float, float]]) -> Moments:
    """Of (figure, weight) of at least two queries."""
    mean, number = _mean(rows), len(rows)
    squares = fsum(weight * (figure - mean) ** 2 for figure, weight in rows)
    variance = squares / fsum(weight for _, weight in rows) * number / (number - 1)
    return Moments(number, mean, _rounded(variance))


def _mean(rows: Sequence[tuple[float, float]]) -> float:
    total = fsum(weight for _, weight in rows)
    return _rounded(fsum(weight * figure for figure, weight in rows) / total) if rows else 0.0


def _product(figure: Moments, traffic: NDArray[np.int64]) -> float:
    """The variance of figure × traffic; the traffic's share of it in whole numbers."""
    levels, times = np.unique(traffic, return_counts=True)
    pairs = [(int(level), int(count)) for level, count in zip(levels, times, strict=True)]
    number = len(traffic)
    total = sum(level * count for level, count in pairs)
    squares = sum(level * level * count for level, count in pairs)
    spread = Fraction(squares * number - total * total, number * (number - 1)) if number > 1 else 0
    product = Fraction(figure.variance) * Fraction(squares, number) + Fraction(figure.mean) ** 2 * spread
    return _rounded(float(product))


def _rounded(number: float) -> float:
    """Six significant digits: the last ones are the machine's."""
    return float(f"{number:.6g}")


def _discounted(gains: Sequence[int]) -> float:
    return fsum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
