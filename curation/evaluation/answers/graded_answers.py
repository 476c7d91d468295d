"""Human grades of answers, read from other projects' releases.

People grade answers as documents of a separate project (`answers_to_grade`). The id of an answer is the hash
of its query, text and contexts, so the grade of an answer counts for every system that gave the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.similarity.identical_texts import IdenticalTexts
from curation.evaluation.scoring.evidence import Pair, PairGrades
from curation.evaluation.scoring.release import choose_parts, read_scale
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.releases.release_rows import list_releases
from curation.store import Store, open_store

CORRECTNESS, FAITHFULNESS, SUPPORT = "correctness", "faithfulness", "support"


@dataclass(frozen=True)
class AnswerGrades:
    """People's grades of systems' answers for one property, such as correctness.

    Attributes
    ----------
    path: the file of the project in which the answers were graded.
    shares: (query id or nugget id, answer id) → grade as a share of the scale, from 0 for the lowest grade to
        1.
    identical: answers with the same text, which a pool has under one id.
    """

    path: Path
    release: str
    shares: Mapping[Pair, float]
    identical: IdenticalTexts

    @property
    def project(self) -> str:
        """Return the file name of the project in which the answers were graded."""
        return self.path.name


def read_answer_grades(graded_property: str, text: str, neighbor: Store | None = None) -> AnswerGrades:
    """Read human grades of answers from `PROJECT=RELEASE`, for the unsealed parts of the release.

    Parameters
    ----------
    neighbor: a project whose folder holds the graded project; None if the text has a path.

    Raises
    ------
    InputError: the text does not have this form, or the file does not exist.
    NotFoundError: the project has no such release.
    RefusedError: the release has changed since the freeze, or all its parts are sealed.
    """
    project, _, name = text.rpartition("=")
    path = Path(project) if neighbor is None else _find_neighbor(neighbor, project)
    if not project or not name or not path.is_file():
        raise InputError(
            f"{graded_property} {text}: expected PROJECT=RELEASE, a goldgrade project's file and the name "
            "of its release",
            command=f"--{graded_property} names them.",
        )
    with name_project_in_errors(path):
        store = open_store(path)
        release = load_release(store, name)
        parts = choose_parts(release)
    answers = (document for _, document in release.documents(store) if document)
    identical = IdenticalTexts((answer.document_id, answer.title, answer.body) for answer in answers)
    query_ids = {row["query_id"] for row in release.rows("queries") if row["part"] in parts}
    rows = (row for row in release.rows("qrels") if row["query_id"] in query_ids)
    graded = convert_to_shares(release, {(row["query_id"], row["document_id"]): row["grade"] for row in rows})
    return AnswerGrades(path, name, identical.shared(graded), identical)


@contextmanager
def name_project_in_errors(path: Path) -> Iterator[None]:
    """Add a project's name to errors raised inside a `with` block, because the command itself runs on another
    project."""
    try:
        yield
    except (NotFoundError, RefusedError) as error:
        raise type(error)(f"{path.name}: {error}") from error


def convert_to_shares(release: FrozenRelease, grades: PairGrades) -> dict[Pair, float]:
    """Convert each grade to its position on the release's scale, from 0 (lowest) to 1 (highest); cannot-tell
    counts as the lowest grade."""
    lowest, *_, highest = read_scale(release.rows("guides"))
    span = highest - lowest
    return {pair: 0.0 if grade is None else (grade - lowest) / span for pair, grade in grades.items()}


def list_neighbor_projects(store: Store) -> list[str]:
    """List the other project files in a project's folder, because they may contain grades of answers."""
    project = store.path.resolve()
    return sorted(path.name for path in project.parent.glob("*.duckdb") if path.is_file() and path != project)


def list_neighbor_releases(store: Store, project: str) -> list[str]:
    """List the release names in another project in the folder, newest first.

    Raises
    ------
    InputError: no project has this name.
    StoreError: the project cannot be opened.
    """
    neighbor = open_store(_find_neighbor(store, project))
    try:
        with neighbor.reading() as cursor:
            return [row.name for row in reversed(list_releases(cursor))]
    finally:
        neighbor.close()


def _find_neighbor(store: Store, project: str) -> Path:
    if project not in list_neighbor_projects(store):
        raise InputError(f"There is no project {project} in the same folder as {store.path.name}.")
    return store.path.resolve().parent / project
