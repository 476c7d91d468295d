"""The round in which people grade the pairs that correct a judge.

People grade the pools of a stratified random sample of queries (`labeling.rounds.query_draw`), because the
difference estimate needs queries with known probabilities. Pairs on which the judge and people differ most
were chosen by their grades, so they must not correct the judge: they go to a round of their own. Annotators
see nothing of the judge in either round.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from curation.core.digests import sort_by_seed
from curation.core.operation import get_tables
from curation.core.reports.tables import Table
from curation.evaluation.llm_judges.human_grades import read_live_grades
from curation.evaluation.llm_judges.judge_judgments import read_judge_judgments, require_judge
from curation.evaluation.llm_judges.judge_requests import PeopleRequest
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.candidates import read_candidates
from curation.labeling.rounds.create_round import OpenedRound, open_round
from curation.labeling.rounds.query_draw import NO_STRATUM, read_frame
from curation.store import Cursor, Store

NO_DIFFERENCES = (
    "Outside the drawn queries, judge and people differ on no pair, so no second round is opened."
)


class PlannedPeople(NamedTuple):
    """The round that corrects a judge, and the round of pairs on which judge and people differ, if any."""

    opened: OpenedRound
    differences: OpenedRound | None
    asked_differences: int

    @property
    def sentences(self) -> list[str]:
        """Describe both rounds."""
        sentences = [*self.opened.sentences]
        if self.differences is not None:
            sentences += self.differences.sentences
            sentences.append(
                f"Grades of {self.differences.round} do not correct the judge: chance did not "
                "choose its pairs."
            )
        elif self.asked_differences:
            sentences.append(NO_DIFFERENCES)
        return sentences

    @property
    def tables(self) -> list[Table]:
        """Show the draw by stratum, and the work of each annotator."""
        return [*get_tables(self.opened), *(get_tables(self.differences) if self.differences else ())]


def open_people_rounds(
    store: Store, request: PeopleRequest, author: str, dry_run: bool = False
) -> PlannedPeople:
    """Open the rounds of a request.

    Raises
    ------
    NotFoundError: no judge has this name; see `open_round`.
    InputError, RefusedError: see `open_round`.
    """
    with store.reading() as cursor:
        require_judge(cursor, request.judge)
        draw = _count_queries(cursor, request.people)
        pairs = _find_differences(cursor, request)
    name = request.round or f"{request.judge}-people"
    layout = RoundRequest(name, request.annotators, request.overlap, draw=draw, seed=request.seed)
    opened = open_round(store, layout, author, dry_run=dry_run)
    drawn = opened.draw.drawn if opened.draw else frozenset()
    chosen = [pair for pair in pairs if pair[0] not in drawn][: request.differences]
    differences = None
    if chosen:
        layout = RoundRequest(f"{name}-differences", request.annotators, request.overlap, 0.0, again=True)
        differences = open_round(store, layout, author, dict.fromkeys(chosen, ""), dry_run)
    return PlannedPeople(opened, differences, request.differences)


def _count_queries(cursor: Cursor, pairs: int) -> int:
    """Count the queries whose pools have about this number of pairs; at least one query a stratum."""
    rows, active = read_candidates(cursor)
    sizes = Counter(row.query_id for row in rows if row.content_hash is not None and row.query_id in active)
    frame, _ = read_frame(cursor)
    strata = {frame.get(query_id, NO_STRATUM) for query_id in sizes}
    return max(len(strata), 1, round(pairs * len(sizes) / max(1, sizes.total())))


def _find_differences(cursor: Cursor, request: PeopleRequest) -> list[tuple[str, str]]:
    """Find the pairs on which judge and people differ, the largest differences first."""
    if not request.differences:
        return []
    people = read_live_grades(cursor)
    gaps: dict[tuple[str, str], int] = {}
    for row in read_judge_judgments(cursor, request.judge):
        pair = (row.query_id, row.document_id)
        human_grade = people.consensus.get(pair)
        if (
            human_grade is not None
            and row.grade is not None
            and people.versions.get(pair) == row.content_hash
        ):
            gaps[pair] = abs(row.grade - human_grade)
    differing = sort_by_seed([pair for pair, gap in gaps.items() if gap], request.seed, list)
    return sorted(differing, key=lambda pair: -gaps[pair])
