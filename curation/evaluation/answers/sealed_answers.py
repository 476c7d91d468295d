"""Answers on a sealed part: what figures of them may not tell, and which answers were scored before.

Exact match of one answer is whether somebody guessed the reference. So files of answers have the limits of
runs (`sealed.disclosure`): each must answer ten of the sealed queries with references, and differ in ten of
them, or none, from every file that was scored before. Kinds of queries with fewer have no figures. Answers
count as equal where exact match and F1 cannot tell them apart. A refusal may tell that a query has
references, never what they say.

A file of guesses still checks as many references as figures can be solved for, so exact match and F1 of all
queries are for leads, as all figures of runs are: the answers of evaluators climb a Ladder (`sealed.ladder`).

What people graded such answers is known to who names these grades, and no secret of the release.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from curation.answers.rule import normalised_answer
from curation.evaluation.answers.answer_files import SystemAnswers
from curation.evaluation.inputs.release import EvaluatedRelease
from curation.evaluation.sealed.disclosure import (
    EarlierRun,
    SeenLists,
    refuse_what_tells_of_single_queries,
    secrets,
)
from curation.statistics.arrays import Mask


class SealedAnswers(NamedTuple):
    """A file's answers to sealed queries: their hashes, and sets of which no figure is of fewer than ten."""

    seen: SeenLists
    secrets: Sequence[Mask]


def sealed_answers(
    release: EvaluatedRelease, known: Mask, read: Sequence[SystemAnswers], earlier: Sequence[EarlierRun]
) -> list[SealedAnswers]:
    """Refuse answers whose figures would tell of single queries, and find what others may not tell.

    Parameters
    ----------
    known: the queries that have references, shape (Q,).

    Raises
    ------
    RefusedError: a file answers too few sealed queries, or differs from another one in too few.
    """
    names = [found.name for found in read]
    seen = [seen_answers(found, release) for found in read]
    counted = release.sealed_queries & known
    if counted.any():
        refuse_what_tells_of_single_queries(release, names, seen, earlier, counted)
    masks = secrets(release, names, seen, earlier)
    return [SealedAnswers(own, sets) for own, sets in zip(seen, masks, strict=True)]


def seen_answers(found: SystemAnswers, release: EvaluatedRelease) -> SeenLists:
    """Query → hash of what figures see of its answer: whether it is empty, and its words."""
    sealed = release.sealed_queries
    sums = {}
    for query_id, inside in zip(release.qrels.query_ids, sealed.tolist(), strict=True):
        if inside and query_id in found.answers:
            answer = found.answers[query_id].answer
            seen = f"{bool(answer)} {normalised_answer(answer)}"
            sums[query_id] = int.from_bytes(hashlib.blake2b(seen.encode(), digest_size=8).digest(), "big")
    return {"answers": sums}
