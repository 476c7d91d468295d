"""Support of nuggets by a judge that graded all answers, corrected by people's grades of some queries.

The unit is the query of the gold set: a score of its answer needs the grade of each nugget. In the project
where support is graded each nugget is a query, and `labeling.rounds.query_draw` draws those of one query
together. A query has a score by the judge's grades; those whose nuggets were drawn have one by people's as
well, which corrects the mean over all (`evaluation.llm_judges.estimates`,
`core.statistics.difference_estimator`).

A query that a system did not answer has 0 for certain: its probability is 1, and it tells nothing of the
judge. Where people graded some of a query's nuggets and not others, something else than chance chose them,
and nothing is estimated. What people graded of other queries is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np

from curation.core.errors import RefusedError
from curation.core.statistics.difference_estimator import difference_estimate
from curation.core.text import amount
from curation.evaluation.answers.answer_files import SystemAnswers
from curation.evaluation.answers.grades import AnswerGrades, Pair, of_project, shares_of
from curation.evaluation.answers.nugget_scores import NUGGET_SCORES, scores_of_answers
from curation.evaluation.llm_judges.estimates import (
    JudgedEvaluation,
    JudgedSystem,
    bounded,
    judged_evaluation,
    judged_sample,
    refuse_sealed,
)
from curation.evaluation.llm_judges.human_sample import NOT_IN_DRAW, HumanSample, sample_of, some_of
from curation.evaluation.scoring.inputs.facets import LEAST
from curation.evaluation.scoring.inputs.release import EvaluatedRelease
from curation.ingest.importers.answers.nuggets import Nugget
from curation.releases.verify import load_release
from curation.store import open_store

Nuggets = Mapping[str, Sequence[Nugget]]


def support_estimates(
    release: EvaluatedRelease,
    nuggets: Nuggets,
    read: Sequence[SystemAnswers],
    people: AnswerGrades,
    judge: str,
) -> JudgedEvaluation:
    """Estimate the scores of nuggets on all evaluated queries that have some.

    Parameters
    ----------
    nuggets: of queries, by id.

    Raises
    ------
    NotFoundError: the project with people's grades has no such judge.
    RefusedError: a part is sealed; people's queries are no probability sample of whole queries; the judge or
        people lack grades.
    """
    refuse_sealed(release)
    with of_project(people.path):
        store = open_store(people.path)
        graded = load_release(store, people.release)
        with store.reading() as cursor:
            by_hand = {nugget for nugget, _ in people.shares}
            drawn, said = judged_sample(cursor, graded, judge, by_hand, people.identical)
        own = [query_id for query_id in release.qrels.query_ids if query_id in nuggets]
        answered = {one for file in read for one, given in file.ids_of(own).items() if given}
        names = {one: [nugget.id_for(one) for nugget in nuggets[one]] for one in own if one in answered}
        sample = whole_queries(drawn, names, by_hand)
        by_judge = shares_of(graded, people.identical.shared(said))
        systems = [system_estimates(file, own, nuggets, sample, by_judge, people.shares) for file in read]
    return replace(judged_evaluation(judge, sample, said), runs=tuple(systems))


def whole_queries(drawn: HumanSample, names: Mapping[str, Sequence[str]], graded: set[str]) -> HumanSample:
    """The sample of nuggets as one of their queries.

    Parameters
    ----------
    names: query id → ids of its nuggets, of the queries that a system answered.
    """
    asked_of = dict(zip(drawn.query_ids, drawn.asked.tolist(), strict=True))
    flags = {one: {asked_of.get(nugget) for nugget in own} for one, own in names.items()}
    if split := [one for one, own in flags.items() if own not in ({True}, {False})]:
        raise RefusedError(
            f"{amount(len(split), 'query', 'queries')} with an answer, such as {some_of(split)}, could not "
            "be drawn whole for people: some of their nuggets were drawn and others not, or are not in the "
            "project. Write the answers to grade again, import and pool them, and draw a round.",
            command="`goldgrade answers to-grade` and `goldgrade round draw` do so.",
        )
    asked = np.array([own == {True} for own in flags.values()], bool)
    stratum_of = dict(zip(drawn.query_ids, drawn.strata, strict=True))
    strata = tuple(stratum_of[own[0]] for own in names.values())
    others = sum(own == {False} and not graded.isdisjoint(names[one]) for one, own in flags.items())
    return sample_of(names, strata, asked, drawn.chosen_by, {NOT_IN_DRAW: others})


def system_estimates(
    file: SystemAnswers,
    own: Sequence[str],
    nuggets: Nuggets,
    sample: HumanSample,
    by_judge: Mapping[Pair, float],
    by_people: Mapping[Pair, float],
) -> JudgedSystem:
    """The estimates of a system.

    Parameters
    ----------
    own: the queries that have nuggets.
    by_judge, by_people: grades of nugget and answer, as shares of the scale.

    Raises
    ------
    RefusedError: the judge lacks grades, or people those of drawn queries.
    """
    ids = file.ids_of(own)
    drawn = set(compress(sample.query_ids, sample.asked.tolist()))
    probabilities = dict(zip(sample.query_ids, sample.probabilities.tolist(), strict=True))
    stratum_of = dict(zip(sample.query_ids, sample.strata, strict=True))
    answered = np.array([given is not None for given in ids.values()])
    asked = np.array([given is None or one in drawn for one, given in ids.items()])
    chances = np.array([1.0 if given is None else probabilities[one] for one, given in ids.items()])
    strata = np.array(["" if given is None else stratum_of[one] for one, given in ids.items()])
    judge, graded = (scores_of_answers(ids, nuggets, shares) for shares in (by_judge, by_people))
    _refuse_ungraded(file.name, "The judge", compress(own, np.isnan(judge[:, 0])))
    _refuse_ungraded(file.name, "People", compress(own, asked & np.isnan(graded[:, 0])))
    overall, too_few = {}, {}
    for name, of_judge, of_people in zip(NUGGET_SCORES, judge.T, graded.T, strict=True):
        there = ~np.isnan(of_judge)  # without vital nuggets there is no score of these
        people = np.where(asked, of_people, np.nan)
        few = int((there & asked & answered).sum())
        if few < LEAST:
            too_few[name] = few
        else:
            units = of_judge[there], people[there], asked[there], chances[there], strata[there]
            overall[name] = bounded(difference_estimate(*units))
    return JudgedSystem(file.name, overall, {}, too_few)


def _refuse_ungraded(system: str, who: str, queries: Iterable[str]) -> None:
    """Stop where answers lack a grade of theirs: which do was not left to chance."""
    if missing := list(queries):
        raise RefusedError(
            f"{who} did not grade all nuggets of {amount(len(missing), 'answer')} of {system}, to "
            f"{some_of(missing)}. Which have all grades was not left to chance alone, so nothing is "
            "estimated. Grade and settle the others, and freeze again."
        )
