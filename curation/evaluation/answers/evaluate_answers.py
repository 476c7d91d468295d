"""Evaluating answers on a release: how right they are by its references, and by people's grades.

The unit is the query, and the figures are means over queries with intervals. A query with references that a
system did not answer counts 0, and is counted. People grade answers in a project of their own
(`evaluation.answers.to_grade`); its release gives each answer its share of the highest grade. Answers that
nobody graded are left out of those means and counted: unknown is not zero.

Reference answers of a sealed part are as secret as its grades: who scores answers on it makes a sealed
evaluation (`evaluation.sealed`). Leads see no value of a single query and no figure of fewer than ten.
Evaluators see one rounded F1 of each system.

What people graded such answers is known to who names these grades, and no secret of the release.

Citations are scored on parts that are not sealed (`evaluation.answers.citations`): two files that differ in
one citation would tell where the evidence of a query is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.core.errors import InputError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Floats, Mask
from curation.evaluation.answers.answer_evaluation import AnswerEvaluation, AnsweringSystem, AnswerOptions
from curation.evaluation.answers.answer_files import (
    AnswerSource,
    SystemAnswers,
    read_answer_file,
)
from curation.evaluation.answers.citations import CitedCorpus, Marked, citation_scores, marked_evidence
from curation.evaluation.answers.grades import AnswerGrades
from curation.evaluation.answers.judged_support import support_estimates
from curation.evaluation.answers.nugget_scores import NUGGET_SCORES, scores_of_answers
from curation.evaluation.answers.to_grade import SUPPORT
from curation.evaluation.figures.means import Figure, mean_intervals
from curation.evaluation.figures.strata import SMALL, StratumFigures, suppressed_strata
from curation.evaluation.scoring.inputs.facets import LEAST, Facet, chosen_facets
from curation.evaluation.scoring.inputs.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.metrics.measures import mean_of
from curation.evaluation.sealed.access import (
    SealedRequest,
    check_access,
    log_figures,
    refusals_logged,
    sealed_request,
)
from curation.evaluation.sealed.headline import HeadlineEvaluation, logged_headline, required_request
from curation.ingest.importers.answers.nuggets import Nugget, nuggets_of_rows
from curation.labeling.written_answers.matching import exact_match, token_f1
from curation.releases.verify import FrozenRelease, load_release
from curation.store import COMMAND_LINE, Store

UNANSWERABLE = "unanswerable"
NO_VALUE = "no query has a value"
EXACT, F1 = "exact_match", "f1"
_MEASURES = {SUPPORT: NUGGET_SCORES[0]}
"""What people graded → the measure that says whether an answer was graded, where it has another name."""


class _Evaluated(NamedTuple):
    """The release, and what the answers to its Q queries are compared with.

    Attributes
    ----------
    nuggets: where support was graded. evidence: where a file cites.
    known, unanswerable: which queries have any of these, and which are unanswerable, shape (Q,).
    """

    release: EvaluatedRelease
    references: Mapping[str, Sequence[str]]
    nuggets: Mapping[str, Sequence[Nugget]]
    evidence: Marked
    known: NDArray[np.bool_]
    unanswerable: NDArray[np.bool_]

    def gradable(self, found: SystemAnswers, what: str) -> Mask:
        """Which answers of a system people can grade: none that is empty; for support those with nuggets."""
        ids = found.ids_of(self.release.qrels.query_ids)
        asked = self.nuggets if what == SUPPORT else ids
        return np.array([given is not None and name in asked for name, given in ids.items()])


def evaluate_answers(
    store: Store,
    release_name: str | FrozenRelease,
    sources: Sequence[AnswerSource],
    options: AnswerOptions = AnswerOptions(),
    reason: str | None = None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> AnswerEvaluation:
    """Score files of answers on a release.

    Parameters
    ----------
    reason: why a sealed part is evaluated; the evaluation is logged before its figures are returned.

    Raises
    ------
    InputError: options that mean nothing here, or files that cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: no query of the parts has reference answers; a sealed part is evaluated without a reason, or
        by somebody who may not.
    """
    names = [source.name for source in sources]
    request = sealed_request(store, release_name, options.split, names, reason, actor, of_answers=True)
    with refusals_logged(store, request):
        if request is not None:
            check_access(store, request)
        return _evaluation(store, release_name, sources, options, request, progress)


def _evaluation(
    store: Store,
    release_name: str | FrozenRelease,
    sources: Sequence[AnswerSource],
    options: AnswerOptions,
    request: SealedRequest | None,
    progress: Progress,
) -> AnswerEvaluation:
    """The evaluation; on sealed parts it is logged, and is what leads see."""
    release = read_release(store, release_name, options.split, options.relevant)
    chosen_facets(release.facets, options.by)
    marked = {} if release.sealed else marked_evidence(release.qrels)
    read = _read_files(release, sources, options, marked, progress)
    cites = any(found.cited is not None for found in read)
    evaluated = _evaluated(store, release, SUPPORT in options.grades, marked if cites else {})
    values = [_values(found, evaluated, options.grades) for found in read]
    judged = None
    if options.judge is not None:
        judged = support_estimates(release, evaluated.nuggets, read, options.grades[SUPPORT], options.judge)
    evaluation = replace(_assembled(evaluated, options, read, values, progress), judged=judged)
    if request is None:
        return evaluation
    figures = [system.overall for system in evaluation.systems]
    return replace(evaluation, sealed_count=log_figures(store, request, figures))


def _read_files(
    release: EvaluatedRelease,
    sources: Sequence[AnswerSource],
    options: AnswerOptions,
    marked: Marked,
    progress: Progress,
) -> list[SystemAnswers]:
    """The files of answers, with what they cite where there is evidence to compare it with."""
    corpus = CitedCorpus(release.bodies, options.mapped) if release.bodies and marked else None
    if options.fields.citations and corpus is None:
        parts, why_not = ", ".join(release.parts), "is sealed" if release.sealed else "has no evidence"
        raise InputError(
            f"Citations cannot be scored: {parts} of the release {release.name!r} {why_not}. "
            "Leave --citation-field out, or choose another part."
        )
    return [
        read_answer_file(source, release.known, options.layout, progress, options.fields, corpus)
        for source in sources
    ]


def _assembled(
    evaluated: _Evaluated,
    options: AnswerOptions,
    read: Sequence[SystemAnswers],
    values: Sequence[Mapping[str, Floats]],
    progress: Progress,
) -> AnswerEvaluation:
    """The figures of all systems, from the values of each query."""
    release = evaluated.release
    facets = chosen_facets(release.facets, options.by)
    systems = []
    for number, (found, own) in enumerate(zip(read, values, strict=True), 1):
        systems.append(_system(found, own, evaluated, facets, options))
        progress("scoring answers", number, len(read))
    return AnswerEvaluation(
        release=release.name,
        release_id=release.release_id,
        parts=release.parts,
        sealed=release.sealed,
        queries=len(release.qrels.query_ids),
        with_references=int(evaluated.known.sum()),
        unanswerable=int(evaluated.unanswerable.sum()),
        systems=tuple(systems),
        query_ids=None if release.sealed else release.qrels.query_ids,
        sealed_count=None,
        seed=options.seed,
        mark=release.mark,
    )


def headline_of_answers(
    store: Store,
    release_name: str | FrozenRelease,
    sources: Sequence[AnswerSource],
    options: AnswerOptions,
    reason: str | None = None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> HeadlineEvaluation:
    """Score files of answers on a sealed part by F1, for an evaluator.

    Raises
    ------
    InputError: the part is not sealed, or files cannot be taken.
    NotFoundError: there is no such release.
    RefusedError: as `check_access`.
    """
    names = [source.name for source in sources]
    request = required_request(
        sealed_request(store, release_name, options.split, names, reason, actor, of_answers=True)
    )
    with refusals_logged(store, request):
        check_access(store, request, all_figures=False)
        release = read_release(store, request.release, options.split)
        read = _read_files(release, sources, options, {}, progress)
        evaluated = _evaluated(store, release)
        values = [_values(found, evaluated, {})[F1] for found in read]
        return logged_headline(store, request, release, F1, [found.source for found in read], values)


def _evaluated(
    store: Store, release: EvaluatedRelease, support: bool = False, marked: Marked | None = None
) -> _Evaluated:
    frozen, ids = load_release(store, release.frozen or release.name), release.qrels.query_ids
    inside = set(ids)
    rows = (row for row in frozen.rows("answers") if row["query_id"] in inside)
    references = {row["query_id"]: row["answers"] for row in rows}
    nuggets = nuggets_of_rows(list(frozen.rows("nuggets"))) if support else {}
    parts = ", ".join(release.parts)
    evidence = marked or {}
    known = np.array([any(query_id in one for one in (references, nuggets, evidence)) for query_id in ids])
    if not known.any() and not release.sealed:  # of a sealed part the figures say so
        raise RefusedError(
            f"No query of {parts} in the release {release.name!r} has reference answers. They are frozen "
            "with a release: import them, and freeze again.",
            command="`goldgrade import answers FILE` imports them.",
        )
    tags = release.facets["tag"].values
    tagged = tags.get(UNANSWERABLE, np.zeros(len(known), bool))
    return _Evaluated(release, references, nuggets, evidence, known, tagged & ~known)


def _system(
    system_answers: SystemAnswers,
    values: Mapping[str, Floats],
    evaluated: _Evaluated,
    facets: Sequence[Facet],
    options: AnswerOptions,
) -> AnsweringSystem:
    ids = evaluated.release.qrels.query_ids
    answered = np.array([query_id in system_answers.answers for query_id in ids])
    empty = np.array(
        [
            query_id in system_answers.answers and not system_answers.answers[query_id].answer
            for query_id in ids
        ]
    )
    unanswerable = evaluated.unanswerable
    sealed = evaluated.release.sealed_queries
    few = 0 < (unanswerable & sealed).sum() < LEAST
    return AnsweringSystem(
        name=system_answers.name,
        source=system_answers.source,
        overall=_protected(_figures(values), evaluated),
        strata={facet.name: _strata(values, facet, evaluated) for facet in facets},
        answered=int((evaluated.known & answered).sum()),
        missing=int((evaluated.known & ~answered).sum()),
        empty=int((evaluated.known & empty).sum()),
        refused=Figure(no_interval=SMALL)
        if few
        else _figures({"refused": np.where(unanswerable, empty, np.nan)})["refused"],
        unsent=None if few else int((unanswerable & ~answered).sum()),
        ungraded={
            name: int(
                np.isnan(values[_MEASURES.get(name, name)][evaluated.gradable(system_answers, name)]).sum()
            )
            for name in options.grades
        },
        left_out=system_answers.left_out,
        per_query=None if evaluated.release.sealed else _per_query(values),
    )


def _values(
    system_answers: SystemAnswers, evaluated: _Evaluated, grades: Mapping[str, AnswerGrades]
) -> dict[str, Floats]:
    """Measure → the value of each query, shape (Q,); NaN where there is none."""
    ids = evaluated.release.qrels.query_ids
    graded = {name: people for name, people in grades.items() if name != SUPPORT}
    values = {name: np.full(len(ids), np.nan) for name in (EXACT, F1, *graded)}
    if evaluated.evidence:
        values |= citation_scores(ids, system_answers.cited, evaluated.evidence)
    for place, query_id in enumerate(ids):
        given = system_answers.answers.get(query_id)
        references = evaluated.references.get(query_id)
        if references is not None:
            values[EXACT][place] = exact_match(given.answer, references) if given else 0.0
            values[F1][place] = token_f1(given.answer, references) if given else 0.0
        if given is not None:
            for name, people in graded.items():
                values[name][place] = people.shares.get((query_id, given.answer_id), np.nan)
    if SUPPORT in grades:
        answers = system_answers.ids_of(ids)
        scores = scores_of_answers(answers, evaluated.nuggets, grades[SUPPORT].shares)
        values |= dict(zip(NUGGET_SCORES, scores.T, strict=True))
    for name, people in grades.items():
        column, asked = values[_MEASURES.get(name, name)], evaluated.gradable(system_answers, name)
        if np.isnan(column[asked] if asked.any() else column).all():
            raise InputError(
                f"--{name}: none of the answers of {system_answers.name!r} was graded in the release "
                f"{people.release!r} of {people.project}. `goldgrade answers to-grade` writes the answers "
                "for "
                "people to grade."
            )
    return values


def _figures(values: Mapping[str, Floats]) -> dict[str, Figure]:
    columns = np.stack(list(values.values()), axis=1)
    figures = {}
    for (name, column), (ends, why) in zip(values.items(), mean_intervals(columns), strict=True):
        low, high = ends or (None, None)
        n = int((~np.isnan(column)).sum())
        figures[name] = Figure(mean_of(column), low, high, n, why if n else NO_VALUE)
    return figures


def _protected(figures: dict[str, Figure], evaluated: _Evaluated) -> dict[str, Figure]:
    """The figures; with sealed queries none of fewer than ten."""
    if not evaluated.release.sealed:
        return figures
    few = {
        name: Figure(n=figure.n, no_interval=SMALL) for name, figure in figures.items() if figure.n < LEAST
    }
    return figures | few


def _strata(
    values: Mapping[str, Floats], facet: Facet, evaluated: _Evaluated
) -> dict[str, StratumFigures[Figure]]:
    """Figures of each kind of query that has references, but of no kind with few or with few sealed ones."""
    masks = {value: mask & evaluated.known for value, mask in facet.values.items()}
    answerable = replace(facet, values={value: mask for value, mask in masks.items() if mask.any()})
    suppressed = suppressed_strata(answerable, evaluated.release.sealed_queries)
    found = {}
    for value, mask in answerable.values.items():
        figures: dict[str, Figure] = {}
        if value not in suppressed:
            figures = _protected(_figures({name: column[mask] for name, column in values.items()}), evaluated)
        found[value] = StratumFigures(int(mask.sum()), figures, suppressed.get(value))
    return found


def _per_query(values: Mapping[str, Floats]) -> dict[str, tuple[float | None, ...]]:
    return {
        name: tuple(None if np.isnan(value) else value for value in column.tolist())
        for name, column in values.items()
    }
