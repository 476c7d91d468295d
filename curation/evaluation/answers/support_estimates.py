"""Estimates of nugget scores on all queries, from a judge's grades of support corrected by people's grades.

People's grades of some queries correct a judge that graded all answers. The unit is the query of the gold
set: the score of an answer needs the grade of each nugget. In the project where support is graded each nugget
is a query, and `labeling.rounds.query_draw` draws the nuggets of one query together. Each query has a score
by the judge's grades. A query whose nuggets were drawn also has a score by people's grades, which corrects
the mean over all queries (`evaluation.llm_judges.estimates`, `core.statistics.difference_estimator`).

A query that a system did not answer scores 0 for certain. It counts as drawn with probability 1, but not as
evidence of the judge's errors. Where people graded only some of a query's nuggets, the graded nuggets are not
a random sample, so nothing is estimated. People's grades of queries that were not drawn are left out and
counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress

import numpy as np

from curation.core.errors import RefusedError
from curation.core.statistics.difference_estimator import difference_estimate
from curation.core.text import pluralize
from curation.evaluation.answers.answer_files import SystemAnswers
from curation.evaluation.answers.answer_scores import AnswerKey
from curation.evaluation.answers.graded_answers import AnswerGrades, convert_to_shares, name_project_in_errors
from curation.evaluation.answers.nugget_scores import NUGGET_SCORES, Nuggets, score_answers
from curation.evaluation.llm_judges import estimates, human_sample
from curation.evaluation.llm_judges.estimates import JudgedEvaluation, JudgedSystem
from curation.evaluation.llm_judges.human_sample import HumanSample
from curation.evaluation.scoring.evidence import Pair
from curation.evaluation.scoring.release import MIN_QUERIES
from curation.releases.frozen_release import load_release
from curation.store import open_store


def estimate_support(
    key: AnswerKey, files: Sequence[SystemAnswers], people: AnswerGrades, judge: str
) -> JudgedEvaluation:
    """Estimate nugget scores on all evaluated queries that have nuggets.

    Parameters
    ----------
    people: human grades of support; the judge graded in the same project.

    Raises
    ------
    NotFoundError: the project with people's grades lacks the judge.
    RefusedError: a part is sealed; people's queries are not a probability sample of whole queries; grades
        of the judge or of people are missing.
    """
    release, nuggets, identical = key.release, key.nuggets, people.identical
    estimates.refuse_sealed(release)
    with name_project_in_errors(people.path):
        store = open_store(people.path)
        graded = load_release(store, people.release)
        with store.reading() as cursor:
            graded_ids = {nugget for nugget, _ in people.shares}
            nugget_sample, judged = estimates.read_judged_sample(cursor, graded, judge, graded_ids, identical)
        query_ids = [query_id for query_id in release.qrels.query_ids if query_id in nuggets]
        answered = set[str]()
        for file in files:
            answered.update(compress(query_ids, file.map_answer_ids(query_ids).values()))
        answered_ids = [query_id for query_id in query_ids if query_id in answered]
        nugget_ids = {name: [nugget.make_id(name) for nugget in nuggets[name]] for name in answered_ids}
        sample = sample_whole_queries(nugget_sample, nugget_ids, graded_ids)
        by_judge = convert_to_shares(graded, identical.shared(judged))
        shares = people.shares
        systems = [estimate_system(file, query_ids, nuggets, sample, by_judge, shares) for file in files]
    return estimates.make_judged_evaluation(judge, sample, judged, systems)


def sample_whole_queries(
    sample: HumanSample, nugget_ids: Mapping[str, Sequence[str]], graded: set[str]
) -> HumanSample:
    """Turn a sample of nuggets that people graded into a sample of whole queries, with all their nuggets.

    Parameters
    ----------
    nugget_ids: id of a query that a system answered → ids of its nuggets.
    graded: the ids of the nuggets that people graded.

    Raises
    ------
    RefusedError: only some of a query's nuggets were drawn.
    """
    is_drawn = dict(zip(sample.query_ids, sample.is_graded.tolist(), strict=True))
    states = {query_id: {is_drawn.get(nugget) for nugget in ids} for query_id, ids in nugget_ids.items()}
    partly_drawn = [query_id for query_id, state in states.items() if state not in ({True}, {False})]
    if partly_drawn:
        examples = human_sample.name_examples(partly_drawn)
        raise RefusedError(
            f"{pluralize(len(partly_drawn), 'query', 'queries')} with an answer, such as {examples}, could "
            "not be drawn completely for people: only some of the nuggets were drawn, or some nuggets are "
            "not in the project. Write the answers to grade again, import and pool them, and draw a round.",
            command="The commands are `goldgrade answers to-grade` and `goldgrade round open --draw`.",
        )
    is_graded = np.array([state == {True} for state in states.values()], bool)
    stratum_of = dict(zip(sample.query_ids, sample.strata, strict=True))
    strata = tuple(stratum_of[ids[0]] for ids in nugget_ids.values())
    graded_queries = {query_id for query_id, ids in nugget_ids.items() if not graded.isdisjoint(ids)}
    not_drawn = sum(states[query_id] == {False} for query_id in graded_queries)
    left_out = {human_sample.NOT_IN_DRAW: not_drawn}
    return human_sample.make_human_sample(nugget_ids, strata, is_graded, sample.chosen_by, left_out)


def estimate_system(
    file: SystemAnswers,
    query_ids: Sequence[str],
    nuggets: Nuggets,
    sample: HumanSample,
    by_judge: Mapping[Pair, float],
    by_people: Mapping[Pair, float],
) -> JudgedSystem:
    """Estimate one system's nugget scores from the judge's grades, corrected by people's grades.

    Parameters
    ----------
    query_ids: the queries that have nuggets.
    by_judge, by_people: (nugget id, answer id) → grade as a share of the scale.

    Raises
    ------
    RefusedError: the judge lacks grades, or drawn queries lack people's grades.
    """
    ids = file.map_answer_ids(query_ids)
    drawn_queries = set(compress(sample.query_ids, sample.is_graded.tolist()))
    probabilities = dict(zip(sample.query_ids, sample.probabilities.tolist(), strict=True))
    stratum_of = dict(zip(sample.query_ids, sample.strata, strict=True))
    is_answered = np.array([answer_id is not None for answer_id in ids.values()])
    is_graded = np.array([ids[query_id] is None or query_id in drawn_queries for query_id in ids])
    # a query without an answer always scores 0
    inclusion = np.array([1.0 if ids[query_id] is None else probabilities[query_id] for query_id in ids])
    strata = np.array(["" if ids[query_id] is None else stratum_of[query_id] for query_id in ids])
    judge_table = score_answers(ids, nuggets, by_judge)
    human_table = score_answers(ids, nuggets, by_people)
    _refuse_ungraded(file.name, "The judge", compress(query_ids, np.isnan(judge_table[:, 0])))
    _refuse_ungraded(file.name, "People", compress(query_ids, is_graded & np.isnan(human_table[:, 0])))
    overall, too_few = {}, {}
    for name, judge_scores, human_scores in zip(NUGGET_SCORES, judge_table.T, human_table.T, strict=True):
        has_score = ~np.isnan(judge_scores)  # a query without vital nuggets has no score of vital nuggets
        people = np.where(is_graded, human_scores, np.nan)
        count = int((has_score & is_graded & is_answered).sum())
        if count < MIN_QUERIES:
            too_few[name] = count
        else:
            columns = (judge_scores, people, is_graded, inclusion, strata)
            units = [column[has_score] for column in columns]
            overall[name] = estimates.cut_intervals(difference_estimate(*units))
    return JudgedSystem(file.name, overall, {}, too_few)


def _refuse_ungraded(system: str, grader: str, queries: Iterable[str]) -> None:
    """Reject answers with missing grades, because the fully graded answers are then no longer a random
    sample."""
    missing = list(queries)
    if missing:
        examples = human_sample.name_examples(missing)
        raise RefusedError(
            f"{grader} did not grade all nuggets of {pluralize(len(missing), 'answer')} of {system}, to "
            f"{examples}. The fully graded answers are not a random sample, so goldgrade computes no "
            "estimate. Grade the missing nuggets, decide disputed pairs, and freeze a new release."
        )
