"""Checks of a judge, like the checks of an annotator: consistency, bias by kind of query, and length bias.

A judge's bias is its grade minus people's grade, in steps of the scale. The error that a judge makes at
people's same grade should not depend on the length of the document. Intervals are by bootstrap over queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from curation.agreement.breakdowns import QueryTypes
from curation.agreement.inter_annotator import make_estimate
from curation.agreement.intra_annotator import MINIMUM_REPEATS, Repeats, score_repeats
from curation.core.reports.tables import Table
from curation.core.statistics.arrays import Floats, Ints, ratio
from curation.core.statistics.bootstrap import RESAMPLES, Sums, resample_figures
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.core.text import pluralize
from curation.evaluation.scoring.evidence import Pair
from curation.store import Cursor
from curation.store.documents import VERSION

NEVER_TWICE = "the judge graded too few pairs twice"
ONE_LENGTH = "the judge's errors or the lengths do not vary"
_NEWEST = """
WITH newest AS (
    FROM judge_answers WHERE judge = ?
    QUALIFY row_number() OVER (
        PARTITION BY query_id, document_id, content_hash, again ORDER BY judge_answers.rowid DESC) = 1)
"""
_LENGTHS = f"""
SELECT content_hash, length(d.title) + length(d.body)
FROM (SELECT DISTINCT unnest(?::TEXT[]) AS content_hash) JOIN {VERSION}
"""  # noqa: S608
_COUNTS = f"""{_NEWEST}
SELECT coalesce(sum(quotes), 0)::BIGINT, coalesce(sum(unfound), 0)::BIGINT, count(*) FILTER (instructions)
FROM newest WHERE NOT again
"""  # noqa: S608
_TWICE = f"""{_NEWEST}
SELECT count(*), count(*) FILTER (one.grade = two.grade)
FROM newest one JOIN newest two USING (query_id, document_id, content_hash)
WHERE NOT one.again AND two.again AND one.grade IS NOT NULL AND two.grade IS NOT NULL
GROUP BY query_id ORDER BY query_id
"""  # noqa: S608


class OwnAnswers(NamedTuple):
    """Checks that need a judge's answers, such as quotes; all fields are empty if the judge's grades were
    imported.

    Attributes
    ----------
    consistency: share of pairs sent twice that got the same grade.
    quotes, unfound: number of quotes, and of quotes that the document does not contain.
    instructions: number of answers that quote a passage which tries to influence the grade.
    """

    quotes: int
    unfound: int
    instructions: int
    consistency: Estimate

    @property
    def sentences(self) -> list[str]:
        """Say how many of the judge's quotes are not in the document, and how many answers quote an
        instruction."""
        sentences = []
        if self.quotes:
            quotes = pluralize(self.quotes, "quote")
            sentences.append(f"{self.unfound:,} of {quotes} are not in the document.")
        if self.instructions:
            answers = pluralize(self.instructions, "answer quotes", "answers quote")
            sentences.append(f"{answers} a passage of the document that tries to influence the grade.")
        return sentences


class JudgeChecks(NamedTuple):
    """The results of the checks of a judge: consistency, bias and length bias.

    Attributes
    ----------
    length: correlation of the judge's error with the logarithm of the document's length, at people's same
        grade.
    group: the kind of query with the clearest difference of bias, such as 'stratum tail'; '' if no kind
        differs from the other queries.
    group_bias: bias on this kind minus the bias on the other queries. The interval is adjusted for the number
        of kinds.
    """

    own: OwnAnswers
    length: Estimate
    group: str
    group_bias: Estimate

    @property
    def table(self) -> Table:
        """Make a table of the checks on a judge, with the checks' intervals."""
        rows: list[tuple[object, ...]] = [
            ("sent twice: same grade", *self.own.consistency),
            ("error by length", *self.length),
        ]
        rows += [(f"bias on {self.group}", *self.group_bias)] if self.group else []
        return Table("Checks on the judge", ("check", "figure", "low", "high", "n", "note"), tuple(rows))


def read_own_answers(cursor: Cursor, judge: str) -> OwnAnswers:
    """Read a judge's newest answers, and estimate the judge's consistency."""
    rows = cursor.execute(_TWICE, [judge]).fetchall()
    repeats = Repeats(judge, len(rows), [row[0] for row in rows], [row[1] for row in rows], 0, None)
    score = score_repeats(repeats)
    consistency = Estimate(n=score.n, why=NEVER_TWICE)
    if score.n >= MINIMUM_REPEATS:
        consistency = Estimate(score.identical, score.low, score.high, score.n)
    [counts] = cursor.execute(_COUNTS, [judge]).fetchall()
    return OwnAnswers._make((*counts, consistency))


def read_lengths(cursor: Cursor, content_hashes: Sequence[str]) -> dict[str, int]:
    """Read the number of characters of document versions."""
    return dict(cursor.execute(_LENGTHS, [list(content_hashes)]).fetchall())


def check_judge(
    both: Mapping[Pair, tuple[int, int]],
    scale: Sequence[int],
    lengths: Sequence[int],
    types: QueryTypes,
    own: OwnAnswers,
    seed: int,
) -> JudgeChecks:
    """Check a judge: consistency, bias by kind of query, and length bias.

    Parameters
    ----------
    both: pair → people's grade and the judge's grade.
    lengths: number of characters of the document of each pair.
    """
    queries, index = np.unique([query for query, _ in both], return_inverse=True)
    steps = np.searchsorted(scale, np.asarray(list(both.values())))
    errors = (steps[:, 1] - steps[:, 0]).astype(np.float64)
    group, group_bias = _find_biased_group(errors, index, queries.tolist(), types, seed)
    return JudgeChecks(
        own=own,
        length=_correlate_with_length(errors, steps[:, 0], np.log1p(lengths), index, seed),
        group=group,
        group_bias=group_bias,
    )


def _correlate_with_length(errors: Floats, human: Ints, lengths: Floats, index: Ints, seed: int) -> Estimate:
    """Correlate the judge's errors with document lengths, both as differences from their means at the same
    human grade."""
    counts = np.maximum(1, np.bincount(human))
    error, length = (
        np.round(values - (np.bincount(human, values) / counts)[human], 9) for values in (errors, lengths)
    )
    products = (error * length, error**2, length**2)
    sums = np.stack([np.bincount(index, product) for product in products], axis=1)

    def correlate(sums: Floats) -> Floats:
        return ratio(sums[:, :1], np.sqrt(sums[:, 1:2] * sums[:, 2:]))

    (values,) = resample_figures([Sums(np.arange(len(sums)), sums, correlate)], len(sums), seed)
    point = float(correlate(sums.sum(axis=0, keepdims=True))[0, 0])
    return make_estimate(point, values[:, 0], len(errors), len(sums), ONE_LENGTH)


def _find_biased_group(
    errors: Floats, index: Ints, queries: Sequence[str], types: QueryTypes, seed: int
) -> tuple[str, Estimate]:
    """Find the kind of query on which the judge's bias differs most clearly from its bias on the other
    queries."""
    total = np.stack([np.bincount(index, errors), np.bincount(index)], axis=1).astype(np.float64)
    members = {}
    for kind, groups in types.items():
        for name, query_ids in groups.items():
            is_member = np.isin(queries, sorted(query_ids))
            if min(is_member.sum(), (~is_member).sum()) >= MINIMUM_QUERIES:
                members[f"{kind} {name}"] = is_member

    def subtract(sums: Floats) -> Floats:
        return ratio(sums[:, :1], sums[:, 1:2]) - ratio(sums[:, 2:3], sums[:, 3:])

    best: tuple[float, str, Estimate] = (0.0, "", Estimate())
    for name, is_member in members.items():
        sums = np.hstack([total * is_member[:, None], total * ~is_member[:, None]])
        (values,) = resample_figures([Sums(np.arange(len(sums)), sums, subtract)], len(sums), seed, RESAMPLES)
        tail = 0.025 / len(members)
        low, high = map(float, np.nanquantile(values[:, 0], [tail, 1 - tail]))
        if max(low, -high) > best[0]:
            point = float(subtract(sums.sum(axis=0, keepdims=True))[0, 0])
            best = max(low, -high), name, Estimate(point, low, high, int(sums[:, 1].sum()))
    return best[1], best[2]
