"""Passes: pairs that were judged again, and what that did to agreement, to votes and to grades.

A round is compared with what was said of its pairs before it, or in another round: judgments about the text
that the round read, of each annotator the newest. Agreement between annotators is of each pass alone, and so
is the grade that the project's rule makes of its votes. The two votes of one person on one pair are no two
opinions: they say how far people agree with themselves. They are not among blind duplicates, since who judges
again may have talked about the pair, or read another guide.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.agreement.between.coefficients import COEFFICIENTS
from curation.agreement.between.inter_annotator import AnyFigure, basis_of, figures_of
from curation.settling.consensus import GradeChanges, grade_changes, settle_pairs
from curation.settling.votes import ConsensusRule, Votes, pair_column, read_rule, votes_by_pair
from curation.statistics.arrays import Ints
from curation.statistics.intervals import RESAMPLES
from curation.store import Cursor

SHOWN = [one for one in COEFFICIENTS if one.name in ("fleiss", "ordinal")]
"""What is said of each pass: ordinal alpha and Fleiss' kappa."""


class PassAgreement(NamedTuple):
    """One pass over the pairs; `settled` have a grade by the project's rule, of the votes of this pass alone.

    `figures`: of `SHOWN`, by name.
    """

    rounds: tuple[str, ...]
    annotators: int
    judgments: int
    settled: int
    figures: dict[str, AnyFigure]


class VotesAgain(NamedTuple):
    """How often one annotator gave a pair the same grade again, a higher, a lower; or could not tell once."""

    annotator: str
    same: int
    higher: int
    lower: int
    cannot_tell: int


class Passes(NamedTuple):
    """A pass against the one before it, on the pairs of both.

    Attributes
    ----------
    passes: the earlier and the later one.
    changes: pairs whose grade was settled, was lost, or is another one.
    people: annotators who judged pairs in both passes, by name.
    sealed: pairs left out because a release seals them: a file of guesses would read their grades.
    """

    pairs: int
    passes: tuple[PassAgreement, PassAgreement]
    changes: GradeChanges
    people: tuple[VotesAgain, ...]
    sealed: int


def read_passes(
    cursor: Cursor, round_id: str | None, earlier: str | None = None, among: Sequence[str] | None = None
) -> Votes:
    """The votes of a round, and those before it on the same pairs; none without a round.

    Parameters
    ----------
    earlier: the round to compare with, by its id; None is all that was judged before.
    among: only these annotators' votes; None is everybody's.
    """
    found = cursor.sql(_PASSES, params={"round": round_id, "earlier": earlier, "among": among})
    return Votes(read_rule(cursor), found.to_arrow_table())


def compare_passes(read: Votes, scale: Sequence[int], seed: int, closed: Collection[str]) -> Passes | None:
    """What `read_passes` found; None where no pair of the round was judged before.

    Parameters
    ----------
    closed: queries that a door closes.
    """
    hidden = pc.is_in(read.rows["query_id"], pa.array(sorted(closed), pa.string()))
    rows = read.rows.filter(pc.invert(hidden))
    if not rows.num_rows:
        return None
    values = np.asarray(sorted({*scale, *pc.unique(rows["grade"]).to_pylist()} - {None}), dtype=np.int64)
    before, after = rows.filter(pc.invert(rows["again"])), rows.filter(rows["again"])
    earlier, was = _one_pass(before, read.rule, values, seed)
    later, now = _one_pass(after, read.rule, values, seed)
    sealed = read.rows.filter(hidden).group_by(["query_id", "document_id"]).aggregate([]).num_rows
    changes, people = grade_changes(was, now), _people(before, after)
    return Passes(len(was), (earlier, later), changes, people, sealed)


def _one_pass(rows: pa.Table, rule: ConsensusRule, scale: Ints, seed: int) -> tuple[PassAgreement, Ints]:
    """A pass, and the place of each pair's grade in the scale: -1 where the votes give none."""
    pairs = votes_by_pair(rows)
    places = np.searchsorted(scale, pairs.values)
    counts = np.zeros((len(pairs.first), len(scale)), dtype=np.int64)
    counts[:, places] = pairs.tally
    queries = pair_column(pairs, "query_id").dictionary_encode().indices.to_numpy()
    figures, _ = figures_of(basis_of(counts, queries), scale.tolist(), SHOWN, seed, RESAMPLES)
    settled = np.append(places, -1)[settle_pairs(pairs, rule).value]
    rounds, people = (pc.unique(rows[name]).sort().to_pylist() for name in ("round", "annotator"))
    numbers = len(people), int(counts.sum()), int((settled >= 0).sum())
    return PassAgreement(tuple(rounds), *numbers, figures), settled


def _people(before: pa.Table, after: pa.Table) -> tuple[VotesAgain, ...]:
    twice = before.join(
        after, ["query_id", "document_id", "annotator"], join_type="inner", right_suffix=" again"
    )
    ways: dict[str, Counter[int | None]] = defaultdict(Counter)
    columns = (twice[name].to_pylist() for name in ("annotator", "grade", "grade again"))
    for who, was, now in zip(*columns, strict=True):
        ways[who][None if was is None or now is None else (now > was) - (now < was)] += 1
    return tuple(VotesAgain(who, n[0], n[1], n[-1], n[None]) for who, n in sorted(ways.items()))


_PASSES = """
WITH votes AS (
    SELECT j.*, r.name AS round, r.sequence, r.round_id = $round AS again
    FROM current_judgments j JOIN rounds r USING (round_id)
    ANTI JOIN known_answers USING (round_id, query_id, document_id)
    WHERE j.duplicate_of IS NULL AND ($among::TEXT[] IS NULL OR list_contains($among::TEXT[], annotator))
      AND (again OR coalesce(r.round_id = $earlier::TEXT, r.kind NOT IN ('pilot', 'practice')
            AND r.sequence < (SELECT sequence FROM rounds WHERE round_id = $round))))
SELECT query_id, document_id, annotator, grade, false AS decided, round, again FROM (
    FROM votes
    QUALIFY content_hash = first_value(content_hash) OVER (
                PARTITION BY query_id, document_id ORDER BY again DESC, written DESC)
        AND row_number() OVER (
            PARTITION BY again, annotator, query_id, document_id, content_hash
            ORDER BY sequence DESC, written DESC) = 1)
WINDOW pair AS (PARTITION BY query_id, document_id)
QUALIFY bool_or(again) OVER pair AND NOT bool_and(again) OVER pair
ORDER BY query_id, document_id, annotator
"""
