"""People's grades of answers: the frozen release of a project in which each document is an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from curation.errors import InputError
from curation.evaluation.inputs.release import parts_of, scale_of
from curation.releases.stored import list_releases
from curation.releases.verify import opened
from curation.store import Store, open_store

GradedBeside = tuple[str, str]
"""The file name of a project in this one's folder, and its release."""


@dataclass(frozen=True)
class AnswerGrades:
    """Grades of answers.

    Attributes
    ----------
    shares: answer id → grade as a share of the scale, 0 the lowest grade and 1 the highest.
    """

    project: str
    release: str
    shares: Mapping[str, float]


def read_grades_of_answers(option: str, text: str) -> AnswerGrades:
    """The grades of `PROJECT=RELEASE`, of the release's parts that are not sealed.

    Parameters
    ----------
    option: what it was asked with, for errors.

    Raises
    ------
    InputError: the text is not of that form, or there is no such file.
    NotFoundError: the project has no such release.
    RefusedError: the release is not as it was frozen, or all of it is sealed.
    """
    path, _, name = text.rpartition("=")
    if not path or not name or not Path(path).is_file():
        raise InputError(
            f"{option} {text}: expected PROJECT=RELEASE, a goldset project's file and the name of its release"
        )
    release = opened(open_store(Path(path)), name)
    parts = parts_of(release)
    scale = scale_of(release.rows("guides"))
    inside = {row["query_id"] for row in release.rows("queries") if row["part"] in parts}
    shares = {
        row["document_id"]: (row["grade"] - scale[0]) / (scale[-1] - scale[0])
        for row in release.rows("qrels")
        if row["query_id"] in inside
    }
    return AnswerGrades(Path(path).name, name, shares)


def projects_beside(store: Store) -> list[str]:
    """The names of the project files in the project's folder, in which answers may have been graded."""
    own = store.path.resolve()
    return sorted(path.name for path in own.parent.glob("*.duckdb") if path.is_file() and path != own)


def releases_of(store: Store, project: str) -> list[str]:
    """The names of the releases of a project next to this one, newest first.

    Raises
    ------
    InputError: there is no such project.
    StoreError: it cannot be opened.
    """
    other = open_store(_beside(store, project))
    try:
        with other.reading() as cursor:
            return [row.name for row in reversed(list_releases(cursor))]
    finally:
        other.close()


def grades_beside(store: Store, graded: GradedBeside, what: str) -> AnswerGrades:
    """The grades of a release of a project next to this one.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `read_grades_of_answers`.
    """
    project, release = graded
    return read_grades_of_answers(what, f"{_beside(store, project)}={release}")


def _beside(store: Store, project: str) -> Path:
    if project not in projects_beside(store):
        raise InputError(f"There is no project {project} in the folder of {store.path.name}.")
    return store.path.resolve().parent / project
