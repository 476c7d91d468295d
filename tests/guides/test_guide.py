"""Labeling guides: what ships, and how a broken one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.guides.guide import current_guide
from curation.guides.parse_guide import parse_guide, read_guide
from curation.guides.presentation_template import field_uses
from curation.ingest.importers.corpus import import_corpus
from curation.labeling.rounds.guide_in_force import put_in_force
from curation.operations.project import init_project
from curation.store import Store
from tests.support import ROOT
from tests.support.command_line import invoke

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


def test_a_shipped_guide_is_known_by_the_beginning_of_its_name() -> None:
    assert read_guide(Path("binary")) == read_guide(GUIDES / "binary-relevance.md")
    with pytest.raises(InputError, match=r"no one guide of goldgrade: .* answer-correctness, answer-fai"):
        read_guide(Path("answer"))


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
        (SMALL.replace("Small", "[" * 5000), "line 2: the front matter is nested too deeply"),
        (SMALL.replace("Small", "9" * 5000), "line 2: the front matter holds a number that is too long"),
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


TEMPLATE = """presentation:
  title: name
  body: markdown
  links: true
  fields:
    - {field: brand, label: Brand}
    - {field: photo, as: image}
"""


def with_template(folder: Path, template: str = TEMPLATE) -> Path:
    path = folder / "guide.md"
    path.write_text(SMALL.replace("scale:", f"{template}scale:", 1), encoding="utf-8")
    return path


def test_a_presentation_template_is_part_of_the_guide_and_of_its_hash(tmp_path: Path) -> None:
    path = with_template(tmp_path)
    project = init_project(tmp_path / "p.duckdb", path)
    with project.store.reading() as cursor:
        guide = current_guide(cursor)
    assert guide == read_guide(path)
    assert guide.presentation is not None
    assert guide.presentation.names == ["name", "brand", "photo"]
    assert [one.drawn_as for one in guide.presentation.fields] == ["text", "image"]
    assert [one.name for one in guide.presentation.fields] == ["Brand", "photo"]
    other = read_guide(with_template(tmp_path, TEMPLATE.replace("links: true", "links: false")))
    assert other.guide_hash != guide.guide_hash


def test_a_guide_without_a_template_is_written_as_before_there_were_any(tmp_path: Path) -> None:
    path = tmp_path / "small.md"
    path.write_text(SMALL, encoding="utf-8")
    assert set(read_guide(path).model_dump(mode="json")) == {"guide_hash", "title", "scale", "body"}
    assert read_guide(with_template(tmp_path)).model_dump(mode="json")["presentation"]["body"] == "markdown"


@pytest.mark.parametrize(
    "wrong",
    [
        "presentation: {body: pdf}\n",
        "presentation: {colour: red}\n",
        "presentation: {fields: [{label: Price}]}\n",
        "presentation: {fields: [{field: price, as: video}]}\n",
        "presentation: {fields: price}\n",
    ],
)
def test_a_template_that_breaks_a_rule_is_refused(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(InputError, match="presentation"):
        read_guide(with_template(tmp_path, wrong))


def test_fields_that_no_document_has_are_named_with_the_size_of_the_corpus(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "title": "One", "text": "a", "brand": "Acme", "url": "https://e.org", "odd/~name": 0},
        {"id": "2", "title": "Two", "text": "b", "brand": "", "sizes": []},
        {"id": "3", "title": "Three", "text": "c", "brand": None, "sizes": ["S"]},
    ]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    store = init_project(tmp_path / "p.duckdb").store
    names = ["brand", "price", "sizes", "url", "title", "odd/~name"]
    fields = "\n".join(f"    - {{field: '{name}'}}" for name in names)
    path = with_template(tmp_path, f"presentation:\n  fields:\n{fields}\n")
    template = read_guide(path).presentation
    with store.reading() as cursor:
        assert field_uses(cursor, template) == []
    import_corpus(store, corpus)
    with store.reading() as cursor:
        uses = field_uses(cursor, template)
        assert field_uses(cursor, None) == []
    assert [(use.field, use.documents) for use in uses] == list(zip(names, (1, 0, 1, 1, 3, 1), strict=True))
    assert put_in_force(store, read_guide(path)).remarks == ["The field “price” is in 0 of 3 documents."]
    said = invoke(["--project", str(store.path), "guide", "check", str(path)]).stdout
    assert "The field “price” is in 0 of 3 documents." in said
    assert "The field “title” is in 3 of 3 documents." in said
    assert "Evidence: not asked for; `evidence: {ask: optional, from_grade:" in said


MARKED = SMALL.replace("scale:", "evidence: {ask: optional, from_grade: 1}\nscale:")


def test_a_guide_says_at_which_grades_evidence_is_marked(tmp_path: Path) -> None:
    guide = parse_guide(MARKED)
    assert [guide.takes_evidence(grade) for grade in (None, 0, 1)] == [False, False, True]
    assert "evidence" not in parse_guide(SMALL).model_dump()
    store = init_project(tmp_path / "p.duckdb").store
    put_in_force(store, guide)
    with store.reading() as cursor:
        assert current_guide(cursor) == guide
    store.close()


def test_a_broken_rule_of_evidence_names_its_line_and_what_is_expected() -> None:
    with pytest.raises(InputError) as refused:
        parse_guide(MARKED.replace("optional, from_grade: 1", "always"))
    assert [*refused.value.problems] == [
        "line 3: evidence, ask: found only 'always'; expected required or optional",
        "line 3: evidence, from_grade is missing; expected the least grade that takes evidence, which is on "
        "the scale",
    ]
    with pytest.raises(InputError, match=r"line 3: evidence, from_grade: found 7; expected one of the scale"):
        parse_guide(MARKED.replace("from_grade: 1", "from_grade: 7"))
