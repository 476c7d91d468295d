"""The evaluation of answers on a release, by reference answers and by people's grades.

The unit is the query, and the figures are means over queries with intervals. A query with reference answers
that a system did not answer scores 0, and the report counts unanswered queries. People grade answers in a
separate project (`evaluation.answers.graded_answers`); the release of that project gives each answer its
share of the highest grade. Ungraded answers are left out of the means of people's grades and are counted,
because an unknown grade is not a zero.

A sealed part's reference answers are as secret as its grades: scoring answers on the part is a sealed
evaluation (`evaluation.sealed_access`). Leads see no value of a single query and no figure of fewer than ten
queries. Evaluators see one rounded F1 of each system. People's grades of answers are not secret, because the
person who names a grading project can read the project.

Citations are scored only on parts that are not sealed (`answers.answer_files`), because two files that differ
in one citation would reveal the evidence of a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats
from curation.core.statistics.estimate import Estimate
from curation.evaluation import rounded_figures, sealed_access
from curation.evaluation.answers import answer_scores
from curation.evaluation.answers.answer_files import SystemAnswers, read_answer_file
from curation.evaluation.answers.answer_scores import F1, AnswerKey
from curation.evaluation.answers.citations import MarkedEvidence, collect_evidence
from curation.evaluation.answers.graded_answers import SUPPORT, AnswerGrades
from curation.evaluation.answers.support_estimates import estimate_support
from curation.evaluation.evaluation import AnswerEvaluation, AnsweringSystem, convert_to_values
from curation.evaluation.figures import means
from curation.evaluation.figures.means import TOO_FEW_QUERIES, StratumFigures
from curation.evaluation.prepare_evaluation import PreparedEvaluation
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.chunk_map import read_chunk_map
from curation.evaluation.scoring.facets import Facet, choose_facets
from curation.evaluation.scoring.release import MIN_QUERIES, EvaluatedRelease, read_release
from curation.evaluation.scoring.system_files import AnswerFields, SystemFile
from curation.evaluation.scoring.system_runs import ReadingOptions
from curation.releases.frozen_release import FrozenRelease
from curation.store import COMMAND_LINE, Store

NO_VALUE = "no query has a value"


def evaluate_answers(
    store: Store,
    release_name: str | FrozenRelease,
    sources: Sequence[SystemFile],
    request: EvaluateRequest = EvaluateRequest(),
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
    *,
    grades: Mapping[str, AnswerGrades] = {},
    reading: ReadingOptions = ReadingOptions(),
    fields: AnswerFields = AnswerFields(),
) -> AnswerEvaluation:
    """Score systems' answer files on the queries of a release.

    Parameters
    ----------
    grades: the graded property, such as 'correctness' → people's grades. Grades of support correct the grades
        of the request's judge, on parts that are not sealed.

    Raises
    ------
    InputError: the options do not fit together, or a file cannot be read.
    NotFoundError: no release has this name.
    RefusedError: no query of the parts has reference answers; a sealed part is evaluated without a reason, or
        by a person who may not evaluate.
    """
    names = [source.name for source in sources]
    sealed = sealed_access.make_sealed_request(store, release_name, request, names, actor, of_answers=True)
    with sealed_access.log_refusals(store, sealed):
        if sealed is not None:
            sealed_access.check_access(store, sealed)
        release = read_release(store, release_name, request.part, request.relevant, request.synthetic)
        facets = choose_facets(release.facets, request.by)
        marked = {} if release.sealed else collect_evidence(release.qrels)
        files = _read_files(release, sources, reading, fields, marked, progress)
        is_cited = any(file.cited is not None for file in files)
        key = answer_scores.make_answer_key(store, release, SUPPORT in grades, marked if is_cited else {})
        evaluation = _evaluate_systems(key, files, facets, grades, request, progress)
        if sealed is None:
            return evaluation
        figures = [system.overall for system in evaluation.systems]
        return replace(evaluation, sealed_count=sealed_access.log_figures(store, sealed, figures))


def _read_files(
    release: EvaluatedRelease,
    files: Sequence[SystemFile],
    reading: ReadingOptions,
    fields: AnswerFields,
    marked: MarkedEvidence,
    progress: Progress,
) -> list[SystemAnswers]:
    """Read the answer files, with their citations if the release has evidence."""
    corpus = (release.bodies, read_chunk_map(reading.chunk_map)) if release.bodies and marked else None
    if fields.citations and corpus is None:
        why_not = "is sealed" if release.sealed else "has no evidence"
        raise InputError(
            f"Citations cannot be scored: {', '.join(release.parts)} of the release {release.name!r} "
            f"{why_not}. Leave out --map citation, or choose another part."
        )
    return [read_answer_file(file, release.known, reading.layout, progress, fields, corpus) for file in files]


def _evaluate_systems(
    key: AnswerKey,
    files: Sequence[SystemAnswers],
    facets: Sequence[Facet],
    grades: Mapping[str, AnswerGrades],
    request: EvaluateRequest,
    progress: Progress,
) -> AnswerEvaluation:
    """Compute the results of all systems' answers; on sealed parts, compute only the results that leads may
    see."""
    release = key.release
    values = [answer_scores.score_queries(system, key, grades) for system in files]
    judged = None
    if SUPPORT in grades and request.judge is not None:
        judged = estimate_support(key, files, grades[SUPPORT], request.judge)
    systems = []
    for count, (system, columns) in enumerate(zip(files, values, strict=True), 1):
        systems.append(_evaluate_system(system, columns, key, facets, grades))
        progress("scoring answers", count, len(files))
    return AnswerEvaluation(
        release=release.name,
        release_id=release.release_id,
        parts=release.parts,
        sealed=release.sealed,
        queries=len(release.qrels.query_ids),
        with_references=int(key.has_reference.sum()),
        unanswerable=int(key.unanswerable.sum()),
        systems=tuple(systems),
        query_ids=None if release.sealed else release.qrels.query_ids,
        sealed_count=None,
        seed=request.seed,
        mark=release.mark,
        judged=judged,
    )


def evaluate_headline_of_answers(prepared: PreparedEvaluation) -> rounded_figures.HeadlineEvaluation:
    """Score answer files on a sealed part by F1, for an evaluator.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as for `evaluate_headline`, or a file cannot be used.
    """

    def score(release: EvaluatedRelease) -> tuple[str, list[rounded_figures.RoundedFigure]]:
        reading, fields, progress = prepared.reading, prepared.answer_fields, prepared.progress
        files = _read_files(release, prepared.answers, reading, fields, {}, progress)
        key = answer_scores.make_answer_key(prepared.store, release)
        values = [answer_scores.score_queries(file, key, {})[F1] for file in files]
        rows = zip(values, files, strict=True)
        return F1, [rounded_figures.round_mean(column, file.name, file.source) for column, file in rows]

    return rounded_figures.evaluate_headline(prepared, prepared.answers, score, of_answers=True)


def _evaluate_system(
    system_answers: SystemAnswers,
    values: Mapping[str, Floats],
    key: AnswerKey,
    facets: Sequence[Facet],
    grades: Mapping[str, AnswerGrades],
) -> AnsweringSystem:
    """Compute the results of one system from its values by query and measure."""
    answers = [system_answers.answers.get(query_id) for query_id in key.release.qrels.query_ids]
    answered = np.array([answer is not None for answer in answers])
    empty = np.array([answer is not None and not answer.answer for answer in answers])
    is_hidden = 0 < (key.unanswerable & key.release.sealed_queries).sum() < MIN_QUERIES
    refused = Estimate(why=TOO_FEW_QUERIES)
    if not is_hidden:
        refused = _average({"refused": np.where(key.unanswerable, empty, np.nan)})["refused"]
    return AnsweringSystem(
        name=system_answers.name,
        source=system_answers.source,
        overall=_average_protected(values, key),
        strata={facet.name: _average_by_stratum(values, facet, key) for facet in facets},
        answered=int((key.has_reference & answered).sum()),
        missing=int((key.has_reference & ~answered).sum()),
        empty=int((key.has_reference & empty).sum()),
        refused=refused,
        unsent=None if is_hidden else int((key.unanswerable & ~answered).sum()),
        ungraded={name: _count_ungraded(system_answers, values, key, name) for name in grades},
        left_out=system_answers.left_out,
        per_query=None if key.release.sealed else convert_to_values(values),
    )


def _count_ungraded(
    system_answers: SystemAnswers, values: Mapping[str, Floats], key: AnswerKey, graded_property: str
) -> int:
    """Count the answers that could have been graded for a property but were not."""
    is_gradable = key.find_gradable(system_answers, graded_property)
    return int(np.isnan(answer_scores.find_graded_values(values, graded_property)[is_gradable]).sum())


def _average(values: Mapping[str, Floats]) -> dict[str, Estimate]:
    """Average each measure over the queries that have a value."""
    estimates = zip(values, means.estimate_means(np.stack(list(values.values()), axis=1)), strict=True)
    return {name: estimate if estimate.n else Estimate(why=NO_VALUE) for name, estimate in estimates}


def _average_protected(values: Mapping[str, Floats], key: AnswerKey) -> dict[str, Estimate]:
    """Average each measure over the queries that have a value; if a part is sealed, leave out means over
    fewer than ten queries."""
    minimum = MIN_QUERIES if key.release.sealed else 0
    return {
        name: mean if mean.n >= minimum else Estimate(n=mean.n, why=TOO_FEW_QUERIES)
        for name, mean in _average(values).items()
    }


def _average_by_stratum(
    values: Mapping[str, Floats], facet: Facet, key: AnswerKey
) -> dict[str, StratumFigures[Estimate]]:
    """Average each measure over each kind of query with references, except kinds with few sealed queries."""
    masks = {value: mask & key.has_reference for value, mask in facet.values.items()}
    answerable = replace(facet, values={value: mask for value, mask in masks.items() if mask.any()})
    suppressed = means.find_suppressed_strata(answerable, key.release.sealed_queries)
    strata = {}
    for value, mask in answerable.values.items():
        stratum_values = {name: column[mask] for name, column in values.items()}
        figures = {} if value in suppressed else _average_protected(stratum_values, key)
        strata[value] = StratumFigures(int(mask.sum()), figures, suppressed.get(value))
    return strata
