"""Files of runs: names that are spelled nearly as in the release."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.evaluation.answers.answer_files import read_answer_file
from curation.evaluation.scoring.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import read_run
from tests.support.evaluated_project import document_ids, evaluated_project


@pytest.fixture
def release(tmp_path: Path) -> EvaluatedRelease:
    return read_release(evaluated_project(tmp_path), "v1")


@pytest.fixture
def names(release: EvaluatedRelease) -> tuple[str, str, str]:
    query = release.qrels.query_ids[0]
    return (query, *document_ids(int(query[1:]))[:2])  # type: ignore[return-value]


@pytest.mark.parametrize("form", ["{}\u200b", "\ufeff{}", "\u2060{}"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_run_with_an_id_that_looks_like_one_of_the_release_is_refused(
    release: EvaluatedRelease, names: tuple[str, str, str], tmp_path: Path, form: str, place: int
) -> None:
    wrong = list(names)
    wrong[place] = form.format(wrong[place])
    (tmp_path / "run.trec").write_text(
        f"{names[0]} Q0 {names[2]} 1 9 r\n{wrong[0]} Q0 {wrong[1]} 2 8 r\n", encoding="utf-8"
    )
    with pytest.raises(InputError) as refused:
        read_run(SystemFile("run", tmp_path / "run.trec"), release)
    (problem,) = refused.value.problems
    assert problem.startswith("line 2: the ")
    assert f"differs from the known {names[place]!r} by invisible characters" in problem


def test_ids_in_another_case_are_other_ids(
    release: EvaluatedRelease, names: tuple[str, str, str], tmp_path: Path
) -> None:
    query, first, second = names
    (tmp_path / "run.trec").write_text(f"{query} Q0 {first} 1 9 r\n{query} Q0 {second.upper()} 2 8 r\n")
    assert read_run(SystemFile("run", tmp_path / "run.trec"), release).unknown_documents == 1


def test_answers_are_refused_as_runs_are(
    release: EvaluatedRelease, names: tuple[str, str, str], tmp_path: Path
) -> None:
    query, _, _ = names
    (tmp_path / "answers.csv").write_text(f"query_id,answer\n{query}\u200b,yes\n")
    with pytest.raises(InputError, match=f"differs from the known '{query}'"):
        read_answer_file(SystemFile("a", tmp_path / "answers.csv"), release.known)
