"""The preparation of an evaluation: checks of a request that do not need sealed grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.request import Option, describe_out_of_bounds, list_options
from curation.evaluation.request import ABOUT_ANSWERS, ABOUT_RUNS, EvaluateRequest, check_request
from curation.evaluation.scoring.system_files import AnswerFields, SystemFile
from curation.evaluation.scoring.system_runs import ReadingOptions
from curation.evaluation.sealed_access import SealedRequest, check_access, log_refusals, make_sealed_request
from curation.ingest.readers.fields import ChunkFields
from curation.people.annotators import require_author
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.store import Store

FILE_OPTIONS = ("part", "reason", "systems", "skip_repeated", "topics", "chunk_map")
"""Options of a request that choose no results: the part, the reason, the systems, how files are read."""
NEEDS_PROJECT = ("part", "judge", "to_pool", "hard_negatives", "chunk_map", *ABOUT_ANSWERS)
"""Options of a request that need more than qrels: parts, documents, or the tables of a project."""
NameOption = Callable[[Option], str]
"""A function that names a request's option for the person who makes the request."""
get_label: NameOption = attrgetter("label")
"""A function that names a request's option as it is named on the page."""


class PreparedEvaluation(NamedTuple):
    """A checked evaluation request together with its release.

    Attributes
    ----------
    rounded: whether an evaluator evaluates a sealed part, and gets one rounded figure per system.
    reading: options for reading runs; runs that several steps need are parsed once.
    by_query: whether the caller needs values of individual queries.
    same_folder: whether people's grades may come only from projects in the project's folder.
    """

    store: Store
    request: EvaluateRequest
    author: str
    release: FrozenRelease
    rounded: bool
    reading: ReadingOptions
    answer_fields: AnswerFields = AnswerFields()
    by_query: bool = False
    same_folder: bool = False
    progress: Progress = silent

    @property
    def runs(self) -> list[SystemFile]:
        """Return the files of the runs that the request evaluates."""
        columns = [ChunkFields(**chosen) for chosen in self.request.columns]
        return [
            SystemFile(name, Path(path), fields)
            for (name, path), fields in zip_longest(self.request.runs, columns)
        ]

    @property
    def answers(self) -> list[SystemFile]:
        """Return the files of the answers that the request evaluates."""
        return [SystemFile(name, Path(path)) for name, path in self.request.answers]


def list_chosen_options(
    request: EvaluateRequest, name_option: NameOption = get_label, fields: Sequence[str] | None = None
) -> list[str]:
    """Name the options in a request that differ from their defaults; `fields` limits which options are
    considered."""
    options = [option for option in list_options(EvaluateRequest) if fields is None or option.name in fields]
    chosen = [option for option in options if getattr(request, option.name) != option.default]
    return [name_option(option) for option in chosen]


def prepare_evaluation(
    store: Store,
    request: EvaluateRequest,
    author: str,
    reading: ReadingOptions = ReadingOptions(),
    name_option: NameOption = get_label,
    *,
    about_runs: Sequence[str] = (),
    about_answers: Sequence[str] = (),
    about_both: Sequence[str] = (),
    facets: Sequence[str] = (),
    release: FrozenRelease | None = None,
) -> PreparedEvaluation:
    """Check a request before any sealed grade is read, and open its release.

    Parameters
    ----------
    about_runs, about_answers, about_both: names of choices outside the request that need runs, need answers,
        or need either.
    facets: facets that conditions need, besides the facets of the request.
    release: the release that the request names, if it was already read.

    Raises
    ------
    InputError, NotFoundError, RefusedError: options do not fit together; the release cannot be used; the
        author may not make candidates.
    """
    release = load_release(store, request.release) if release is None else release
    systems = [name for name, _ in (*request.runs, *request.answers)]
    sealed = make_sealed_request(store, release, request, systems, author, of_answers=not request.runs)
    with log_refusals(store, sealed):
        if sealed is not None:
            check_access(store, sealed, all_figures=False)
        if sealed is not None and sealed.rounded:
            _refuse_all_figures(sealed, request, name_option, [*about_runs, *about_answers, *about_both])
        _refuse_unavailable(store, request, author, release)
        _refuse_missing_files(request, name_option, about_runs, about_answers)
        check_request(request)
    reads_twice = request.judge is not None or request.to_pool is not None
    return PreparedEvaluation(
        store=store,
        request=replace(request, by=[*request.by, *facets]),
        author=author,
        release=release,
        rounded=sealed is not None and sealed.rounded,
        reading=reading._replace(
            skip_repeated=request.skip_repeated,
            parsed_files={} if reads_twice else None,
            topics=request.topics,
            chunk_map=request.chunk_map,
        ),
    )


def _refuse_all_figures(
    sealed: SealedRequest, request: EvaluateRequest, name_option: NameOption, other_choices: Sequence[str]
) -> None:
    """Reject an evaluator's request for more than rounded results on a sealed part."""
    about_figures = replace(request, **{name: getattr(EvaluateRequest(), name) for name in FILE_OPTIONS})
    choices = [*list_chosen_options(about_figures, name_option), *other_choices]
    if choices:
        raise RefusedError(
            f"{sealed.parts} is sealed, and evaluators get only one rounded figure per system. Leave out "
            f"{', '.join(choices)}. Only leads see full results."
        )


def refuse_project_options(request: EvaluateRequest, name_option: NameOption = get_label) -> None:
    """Reject options that need a project's release if the request evaluates on qrels.

    Raises
    ------
    InputError: such an option was given.
    """
    chosen = list_chosen_options(request, name_option, NEEDS_PROJECT)
    chosen += ["--answers"] if request.answers else []
    problems = [
        f"{choice} needs a release of a project, and {request.release} has only qrels" for choice in chosen
    ]
    refuse_problems(problems, way_out="Leave this option out, or name a release.")


def check_pooling(store: Store, depth: int, author: str) -> None:
    """Reject in advance a request that `pool_runs` would refuse, before any sealed grade is read.

    Raises
    ------
    InputError: the depth is below 1.
    RefusedError: the author is not a lead.
    """
    refuse_problems(describe_out_of_bounds(EvaluateRequest, {"to_pool": depth}))
    with store.reading() as cursor:
        require_author(cursor, author, "lead")


def _refuse_unavailable(store: Store, request: EvaluateRequest, author: str, release: FrozenRelease) -> None:
    """Reject a judge or candidates on a packed release, and candidates from a person who is not a lead."""
    if request.to_pool is not None:
        check_pooling(store, request.to_pool, author)
    if release.file is not None and (request.judge is not None or request.to_pool is not None):
        raise RefusedError(
            f"{release.file.path} is a packed release: judges' grades and candidates are only in the "
            "release's project. Evaluate the project's own release."
        )


def _refuse_missing_files(
    request: EvaluateRequest, name_option: NameOption, about_runs: Sequence[str], about_answers: Sequence[str]
) -> None:
    """Reject a request without files, and choices for runs or answers whose files are missing."""
    if not request.runs and not request.answers:
        raise InputError("Name at least one run, or one answer file, to evaluate.")
    judges_answers = request.answers and request.support  # people's grades correct a judge of answers
    problems = []
    if not request.runs:
        fields = [name for name in ABOUT_RUNS if name != "judge" or not judges_answers]
        choices = [*list_chosen_options(request, name_option, fields), *about_runs]
        problems += [f"{choice} is for runs, but no run is named" for choice in choices]
    if not request.answers:
        choices = [*list_chosen_options(request, name_option, ABOUT_ANSWERS), *about_answers]
        problems += [f"{choice} is for answers, but no answer file is named" for choice in choices]
    refuse_problems(problems, way_out="Name the missing files, or leave this option out.")
