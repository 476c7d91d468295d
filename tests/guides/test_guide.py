"""Labeling guides: what ships, and how a broken one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.errors import InputError
from curation.guides.guide import current_guide, read_guide
from curation.project import init_project
from curation.store import Store
from tests.support import ROOT

GUIDES = ROOT / "labeling_guides"

SMALL = """---
title: Small
scale:
  - {value: 1, name: Good, key: "1", colour: "#008000", definition: It helps.}
  - {value: 0, name: Bad, key: "0", colour: "#800000", definition: It does not.}
---
Read, then press a key.
"""


def test_the_graded_guide_has_the_scale_0_to_3_and_worked_examples() -> None:
    guide = read_guide(GUIDES / "graded-relevance.md")
    assert guide.values == (0, 1, 2, 3)
    assert [grade.key for grade in guide.scale] == ["0", "1", "2", "3"]
    assert 5 <= sum(len(grade.examples) for grade in guide.scale) <= 10
    assert all(example.why for grade in guide.scale for example in grade.examples)
    assert min(len(grade.examples) for grade in guide.scale) >= 1
    assert "## Edge cases" in guide.body
    assert "## Cannot tell" in guide.body


def test_another_guide_alone_changes_the_scale(tmp_path: Path) -> None:
    project = init_project(tmp_path / "binary.duckdb", GUIDES / "binary-relevance.md")
    with project.store.reading() as cursor:
        assert current_guide(cursor).values == (0, 1)
    project.store.close()


def test_the_stored_guide_is_the_one_in_the_file(store: Store) -> None:
    with store.reading() as cursor:
        assert current_guide(cursor) == read_guide()


def test_any_change_of_a_guides_words_changes_its_hash(tmp_path: Path) -> None:
    first, second = tmp_path / "a.md", tmp_path / "b.md"
    first.write_text(SMALL)
    second.write_text(SMALL.replace("press", "push"))
    assert read_guide(first).guide_hash != read_guide(second).guide_hash


def test_grades_are_ordered_by_value_whatever_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text(SMALL)
    assert [grade.name for grade in read_guide(path).scale] == ["Bad", "Good"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# No front matter", "no YAML front matter"),
        (
            SMALL.replace("value: 1", "value: 0"),
            "line 5: 2nd grade, value: each grade needs its own value; used twice: 0",
        ),
        (SMALL.replace('key: "1"', 'key: "u"'), "the screen itself uses the key u"),
        (
            SMALL.replace("#008000", "green"),
            "line 4: 1st grade, colour: found only 'green'; expected a colour such as #2b62a8",
        ),
        (SMALL.replace("title: Small", "title: [Small"), "line 3: the front matter is not YAML"),
        (
            SMALL.replace("definition: It helps.", ""),
            "line 4: 1st grade, definition is missing; expected a sentence",
        ),
        (SMALL.replace("title: Small\n", ""), "line 2: title is missing; expected a title in words"),
        (SMALL.replace("Small", "Sm\aall"), "line 2: the front matter holds the character U+0007"),
        (SMALL.replace("Small", "2024-13-45"), "the front matter is not YAML: month must be in 1..12"),
        ("---\n- a\n- b\n---\nbody", "the front matter holds a list of 2; expected names with values"),
        ("---\n# later\n---\nbody", "the front matter holds nothing; expected"),
        ("---\nonly words\n---\nbody", "the front matter holds only 'only words'; expected"),
    ],
)
def test_a_broken_guide_is_refused_with_the_place(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "guide.md"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        init_project(tmp_path / "project.duckdb", path)
    assert told in str(caught.value)
    assert str(path) in str(caught.value)
    assert not (tmp_path / "project.duckdb").exists()


def test_a_grade_outside_the_scale_gets_a_sentence_that_names_the_scale(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text(SMALL)
    guide = read_guide(path)
    assert [guide.outside(grade) for grade in guide.values] == ["", ""]
    assert guide.outside(2) == "grade 2 is not on the guide's scale (0, 1)"
    assert guide.outside(None) == "grade None is not on the guide's scale (0, 1)"
