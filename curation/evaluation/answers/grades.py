"""Grades of answers: people's are the frozen release of the project in which they were graded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.similarity.identical import Identical
from curation.evaluation.scoring.inputs.release import parts_of, scale_of
from curation.releases.release_rows import Pin, list_releases
from curation.releases.verify import FrozenRelease, load_release
from curation.store import Store, open_store

Pair = tuple[str, str]


@dataclass(frozen=True)
class AnswerGrades:
    """Grades of answers.

    Attributes
    ----------
    path: of the project.
    shares: query id, or nugget id for support, and answer id → grade as a share of the scale, 0 the lowest
        grade and 1 the highest.
    identical: answers with the same text, which a pool has under one id.
    """

    path: Path
    release: str
    shares: Mapping[Pair, float]
    identical: Identical

    @property
    def project(self) -> str:
        """The name of the project's file."""
        return self.path.name


def read_grades_of_answers(what: str, text: str, near: Store | None = None) -> AnswerGrades:
    """The grades of `PROJECT=RELEASE`, of the release's parts that are not sealed.

    Parameters
    ----------
    near: the project is one in the folder of this one, by its file's name.

    Raises
    ------
    InputError: the text is not of that form, or there is no such file.
    NotFoundError: the project has no such release.
    RefusedError: the release is not as it was frozen, or all of it is sealed.
    """
    project, _, name = text.rpartition("=")
    path = Path(project) if near is None else _neighbour(near, project)
    if not project or not name or not path.is_file():
        raise InputError(
            (
                f"{what} {text}: expected PROJECT=RELEASE, a goldgrade project's file and the name of its "
                "release"
            ),
            command=f"--{what} names them.",
        )
    with of_project(path):
        store = open_store(path)
        release = load_release(store, name)
        parts = parts_of(release)
    pins = [Pin(row["document_id"], row["content_hash"]) for row in release.walk("documents")]
    identical = Identical(
        (document.document_id, document.title, document.body)
        for _, document in release.pinned(store, pins)
        if document
    )
    inside = {row["query_id"] for row in release.rows("queries") if row["part"] in parts}
    rows = (row for row in release.rows("qrels") if row["query_id"] in inside)
    graded = shares_of(release, {(row["query_id"], row["document_id"]): row["grade"] for row in rows})
    return AnswerGrades(path, name, identical.shared(graded), identical)


@contextmanager
def of_project(path: Path) -> Iterator[None]:
    """Errors name the project: it is another one than that of the command."""
    try:
        yield
    except (NotFoundError, RefusedError) as error:
        raise type(error)(f"{path.name}: {error}") from error


def shares_of(release: FrozenRelease, grades: Mapping[Pair, int | None]) -> dict[Pair, float]:
    """Grades of pairs as shares of the release's scale; cannot-tell supports nothing."""
    low, *_, high = scale_of(release.rows("guides"))
    return {pair: ((low if grade is None else grade) - low) / (high - low) for pair, grade in grades.items()}


def neighbour_projects(store: Store) -> list[str]:
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
    other = open_store(_neighbour(store, project))
    try:
        with other.reading() as cursor:
            return [row.name for row in reversed(list_releases(cursor))]
    finally:
        other.close()


def _neighbour(store: Store, project: str) -> Path:
    if project not in neighbour_projects(store):
        raise InputError(f"There is no project {project} in the folder of {store.path.name}.")
    return store.path.resolve().parent / project
