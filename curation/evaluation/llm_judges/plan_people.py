"""Rounds in which people grade pairs so that a judge's grades can be corrected.

People grade the pools of a stratified random sample of queries (`labeling.rounds.query_draw`), because the
difference estimate needs queries with known probabilities. Pairs on which the judge and people differ most
were chosen by their grades, so they must not correct the judge: they go to a round of their own. Annotators
see nothing about the judge in either round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from curation.core.digests import sort_by_seed
from curation.evaluation.llm_judges.human_grades import read_live_grades
from curation.evaluation.llm_judges.judge_judgments import read_judge_judgments, require_judge
from curation.evaluation.llm_judges.measure_agreement import match_pairs
from curation.evaluation.scoring.evidence import Pair
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.candidates import read_candidates
from curation.labeling.rounds.create_round import OpenedRound, open_round
from curation.labeling.rounds.query_draw import NO_STRATUM, read_frame
from curation.store import Cursor, Store


def open_people_rounds(
    store: Store, judge: str, pairs: int, differences: int, layout: RoundRequest, author: str, dry_run: bool
) -> list[OpenedRound]:
    """Open the round whose grades correct a judge, and a second round with the pairs on which the judge and
    people differ, if any.

    Parameters
    ----------
    pairs: number of pairs that people grade, in whole queries, so that the number is met roughly.
    differences: largest number of pairs on which the judge and people differ.

    Raises
    ------
    NotFoundError: no judge has this name; see `open_round`.
    InputError, RefusedError: see `open_round`.
    """
    with store.reading() as cursor:
        require_judge(cursor, judge)
        count = _count_queries(cursor, pairs)
        gaps = _find_gaps(cursor, judge) if differences else {}
    opened = [open_round(store, replace(layout, draw=count), author, dry_run=dry_run)]
    drawn = opened[0].draw.drawn if opened[0].draw else frozenset()
    differing = sort_by_seed((pair for pair in gaps if pair[0] not in drawn), layout.seed, list)
    chosen = sorted(differing, key=lambda pair: -gaps[pair])[:differences]
    if chosen:
        again = replace(layout, name=f"{layout.name}-differences", duplicates=0.0, again=True)
        opened.append(open_round(store, again, author, dict.fromkeys(chosen, ""), dry_run))
    return opened


def _count_queries(cursor: Cursor, pairs: int) -> int:
    """Find how many queries have pools of about this many pairs in total; at least one query per stratum."""
    rows, active = read_candidates(cursor)
    sizes = Counter(row.query_id for row in rows if row.content_hash is not None and row.query_id in active)
    frame, _ = read_frame(cursor)
    strata = {frame.get(query_id, NO_STRATUM) for query_id in sizes}
    return max(len(strata), 1, round(pairs * len(sizes) / max(1, sizes.total())))


def _find_gaps(cursor: Cursor, judge: str) -> Mapping[Pair, int]:
    """Find the pairs on which the judge and people differ, with the size of the difference."""
    people = read_live_grades(cursor)
    grades, _ = match_pairs(people, read_judge_judgments(cursor, judge), ())
    gaps = {
        pair: abs(grade - human)
        for pair, grade in grades.items()
        if grade is not None and (human := people.consensus[pair]) is not None
    }
    return {pair: gap for pair, gap in gaps.items() if gap}
