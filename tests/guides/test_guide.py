"""Labeling guides: what ships, how a broken one is refused; versions, drafts and differences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.guides.difference import compare_guides
from curation.guides.drafts import discard_draft, find_draft, list_drafts, save_draft
from curation.guides.guide import Guide, current_guide, describe_fields, load_guide
from curation.guides.guide_editing import compose_source, rename_grades_in_text
from curation.guides.guide_text import MAX_BYTES, has_shipped_examples, parse_guide, read_guide
from curation.guides.versions import find_version, list_versions
from curation.ingest.importers.corpus import import_corpus
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.use_guide import compute_guide_effects, use_guide
from curation.operations.project import init_project
from curation.store import Store
from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.projects import add_names, add_pairs, built_once, decide_pairs, grade_next, grid, rows_of

GUIDES = ROOT / "labeling_guides"
SMALL = """---
title: Small
scale:
  - {value: 1, name: Good, key: "1", colour: "#008000", definition: It helps.}
  - {value: 0, name: Bad, key: "0", colour: "#800000", definition: It does not.}
---
Read, then press a key.
"""
TEMPLATE = """presentation:
  title: name
  body: markdown
  links: true
  fields:
    - {field: brand, label: Brand}
    - {field: photo, as: image}
"""
MARKED = SMALL.replace("scale:", "evidence: {ask: optional, from_grade: 1}\nscale:")
BASE = read_guide()
REVISED = parse_guide(
    BASE.source.replace("name: Useful", "name: In part").replace("Press the key.", "Press it.")
)


def test_the_graded_guide_has_the_scale_0_to_3_and_worked_examples() -> None:
    guide = read_guide(GUIDES / "graded-relevance.md")
    assert guide.values == (0, 1, 2, 3)
    assert [grade.key for grade in guide.scale] == ["0", "1", "2", "3"]
    assert 5 <= sum(len(grade.examples) for grade in guide.scale) <= 10
    assert all(example.why for grade in guide.scale for example in grade.examples)
    assert min(len(grade.examples) for grade in guide.scale) >= 1
    assert "## Edge cases" in guide.body
    assert "## Cannot tell" in guide.body


def test_a_shipped_guide_is_known_by_the_beginning_of_its_name() -> None:
    assert read_guide(Path("binary")) == read_guide(GUIDES / "binary-relevance.md")
    with pytest.raises(InputError, match=r"a shipped guide: .* answer-correctness, answer-fai"):
        read_guide(Path("answer"))


def test_grades_are_ordered_by_value_and_any_change_of_the_words_changes_the_hash() -> None:
    guide = parse_guide(SMALL)
    assert [grade.name for grade in guide.scale] == ["Bad", "Good"]
    assert parse_guide(SMALL.replace("press", "push")).guide_hash != guide.guide_hash


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# No front matter", "no YAML front matter"),
        (
            SMALL.replace("value: 1", "value: 0"),
            "line 5: 2nd grade, value: each grade needs its own value; used twice: 0",
        ),
        (SMALL.replace('key: "1"', 'key: "u"'), "the app itself uses the key u"),
        (
            SMALL.replace("#008000", "green"),
            "line 4: 1st grade, colour: found only 'green'; expected a colour such as #2b62a8",
        ),
        (SMALL.replace("title: Small", "title: [Small"), "line 3: the front matter is not YAML"),
        (SMALL.replace("title: Small\n", ""), "line 2: title is missing; expected a title in words"),
        (SMALL.replace("Small", "Sm\aall"), "line 2: the front matter holds the character U+0007"),
        (SMALL.replace("Small", "2024-13-45"), "the front matter is not YAML: month must be in 1..12"),
        (SMALL.replace("Small", "[" * 5000), "line 2: the front matter is nested too deeply"),
        (SMALL.replace("Small", "9" * 5000), "line 2: the front matter holds a number that is too long"),
        ("---\n- a\n- b\n---\nbody", "the front matter holds a list of 2; expected names with values"),
    ],
)
def test_a_broken_guide_is_refused_with_the_place(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "guide.md"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        init_project(tmp_path / "project.duckdb", path)
    assert expected in str(caught.value)
    assert str(path) in str(caught.value)
    assert not (tmp_path / "project.duckdb").exists()


def test_a_grade_outside_the_scale_gets_a_sentence_that_names_the_scale() -> None:
    guide = parse_guide(SMALL)
    assert [guide.describe_off_scale(grade) for grade in guide.values] == ["", ""]
    assert guide.describe_off_scale(2) == "grade 2 is not on the guide's scale (0, 1)"
    assert guide.describe_off_scale(None) == "grade None is not on the guide's scale (0, 1)"


def with_template(folder: Path, template: str = TEMPLATE) -> Path:
    path = folder / "guide.md"
    path.write_text(SMALL.replace("scale:", f"{template}scale:", 1), encoding="utf-8")
    return path


def test_a_presentation_template_is_part_of_the_guide_and_of_its_hash(tmp_path: Path) -> None:
    path = with_template(tmp_path)
    project = init_project(tmp_path / "p.duckdb", path)
    with project.reading() as cursor:
        guide = current_guide(cursor)
    assert guide == read_guide(path)
    assert guide.presentation is not None
    assert guide.presentation.names == ["name", "brand", "photo"]
    assert [field.drawn_as for field in guide.presentation.fields] == ["text", "image"]
    assert [field.name for field in guide.presentation.fields] == ["Brand", "photo"]
    other = read_guide(with_template(tmp_path, TEMPLATE.replace("links: true", "links: false")))
    assert other.guide_hash != guide.guide_hash


def test_a_guide_without_a_template_is_written_as_before_there_were_any(tmp_path: Path) -> None:
    assert set(parse_guide(SMALL).model_dump(mode="json")) == {"guide_hash", "title", "scale", "body"}
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
    store = init_project(tmp_path / "p.duckdb")
    names = ["brand", "price", "sizes", "url", "title", "odd/~name"]
    fields = "\n".join(f"    - {{field: '{name}'}}" for name in names)
    path = with_template(tmp_path, f"presentation:\n  fields:\n{fields}\n")
    template = read_guide(path).presentation
    with store.reading() as cursor:
        assert describe_fields(cursor, template) == ([], [])
    import_corpus(store, corpus)
    with store.reading() as cursor:
        uses, unused = describe_fields(cursor, template)
        assert describe_fields(cursor, None) == ([], [])
    expected = zip(names, (1, 0, 1, 1, 3, 1), strict=True)
    assert uses == [f"The field “{name}” is in {number} of 3 documents." for name, number in expected]
    assert use_guide(store, read_guide(path)).remarks == unused == [uses[1]]
    said = invoke(["--project", str(store.path), "guide", "use", str(path), "--dry-run"]).stdout
    assert "The field “price” is in 0 of 3 documents." in said
    assert "This guide does not ask for evidence; `evidence: {ask: optional, from_grade:" in said


def test_a_guide_says_at_which_grades_evidence_is_marked() -> None:
    guide = parse_guide(MARKED)
    assert [guide.takes_evidence(grade) for grade in (None, 0, 1)] == [False, False, True]
    assert "evidence" not in parse_guide(SMALL).model_dump()


def test_a_broken_rule_of_evidence_names_its_line_and_what_is_expected() -> None:
    with pytest.raises(InputError) as refused:
        parse_guide(MARKED.replace("optional, from_grade: 1", "always"))
    assert [*refused.value.problems] == [
        "line 3: evidence, ask: found only 'always'; expected required or optional",
        "line 3: evidence, from_grade is missing; expected a grade of the scale: the lowest grade that takes "
        "evidence",
    ]
    with pytest.raises(
        InputError, match=r"line 3: evidence, from_grade: found 7; expected a grade of the scale"
    ):
        parse_guide(MARKED.replace("from_grade: 1", "from_grade: 7"))


def without_grade_3() -> Guide:
    head, _, rest = BASE.source.partition("  - value: 3")
    return parse_guide(head + rest[rest.index("---\n") :])


@built_once
def working(store: Store) -> Store:
    """Two rounds under way; one has two answers."""
    add_pairs(store, grid(3, 4))
    add_names(store, "ada", "ben")
    add_names(store, "lee", "mia", role="lead")
    add_names(store, "rosa", role="reviewer")
    open_round(store, RoundRequest("first", ["ada"], overlap=1, duplicates=0))
    add_pairs(store, {f"more {n}": [f"more {n}.{d}" for d in range(4)] for n in range(3)})
    open_round(store, RoundRequest("second", ["ben"], overlap=1, duplicates=0))
    grade_next(store, "ada", 2, grade=3)
    return store


@pytest.mark.slow
def test_every_version_keeps_its_text_and_says_since_when_by_whom_and_why(working: Store) -> None:
    use_guide(working, REVISED, "lee", "keep", " Clearer. ")
    with working.reading() as cursor:
        now, before = list_versions(cursor)
        assert find_version(cursor, BASE.guide_hash[:6]) == BASE
        assert compose_source(find_version(cursor, REVISED.guide_hash)) == REVISED.source
        with pytest.raises(NotFoundError, match="no guide 'zz'"):
            find_version(cursor, "zz")
    assert (now.guide_hash, now.in_force, now.by, now.reason) == (REVISED.guide_hash, True, "lee", "Clearer.")
    assert (now.answers, now.rounds) == (0, [])
    assert (before.in_force, before.by, before.answers) == (False, "command line", 2)
    assert before.rounds == ["first", "second"]


def test_a_guide_stored_without_its_text_is_written_from_its_parts(working: Store) -> None:
    with working.transaction() as cursor:
        cursor.execute("DELETE FROM guide_sources")
    with working.reading() as cursor:
        old = load_guide(cursor, BASE.guide_hash)
    assert old.source == ""
    again = parse_guide(compose_source(old))
    assert (again.title, again.scale, again.body) == (BASE.title, BASE.scale, BASE.body)


def test_a_difference_names_grades_added_removed_and_renamed_and_the_words_of_the_text() -> None:
    difference = compare_guides(BASE, REVISED)
    assert [(one.value, one.kind, one.changed) for one in difference.changed_grades] == [
        (2, "changed", ("name",))
    ]
    assert difference.summary == [
        "Grade 2, “Useful”, is “In part” now.",
        "The text loses 2 words and gains 1.",
    ]
    assert [one.text for one in difference.body if one.kind == "added"] == ["it."]
    shown = " ".join(one.text for one in difference.changed_body)
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert "Press the key. it. Trust your first careful reading" in shown
    fewer = compare_guides(BASE, without_grade_3())
    assert fewer.summary[0] == "Grade 3, “Exactly it”, is removed."
    assert compare_guides(without_grade_3(), BASE).summary[0] == "Grade 3, “Exactly it”, is added."
    assert compare_guides(BASE, BASE).summary == ["The guides are the same."]


@pytest.mark.slow
def test_what_putting_a_guide_in_force_means_is_said_before_and_writes_nothing(working: Store) -> None:
    before = rows_of(working, "SELECT count(*) FROM events")
    effects = compute_guide_effects(working, REVISED)
    assert [(effect.round, effect.open_items, effect.answered) for effect in effects.rounds] == [
        ("first", 10, 2),
        ("second", 12, 0),
    ]
    assert not effects.cannot_switch
    assert (effects.answers, effects.stale_pairs, effects.off_scale) == (2, 2, {})
    assert "22 open items" in effects.describe("switch")
    assert compute_guide_effects(working, BASE).sentences == ["This guide is already the current guide."]
    assert rows_of(working, "SELECT count(*) FROM events") == before


def test_grades_that_leave_the_scale_are_counted_and_their_round_cannot_switch(working: Store) -> None:
    decide_pairs(working, {("query 0", "document 0.0"): 3})
    effects = compute_guide_effects(working, without_grade_3())
    assert effects.off_scale == {3: 2}
    assert effects.off_scale_decisions == 1
    assert [state.round in effects.cannot_switch for state in effects.rounds] == [True, False]
    assert effects.sentences[0].startswith(
        "Some judgments have grades that are not on the new scale: grade 3 (2"
    )
    with pytest.raises(RefusedError, match="cannot have grades on two scales"):
        use_guide(working, without_grade_3(), "lee", "switch")


def test_a_guide_put_in_force_meanwhile_is_not_replaced_unseen(working: Store) -> None:
    use_guide(working, REVISED, "mia", "keep")
    with pytest.raises(RefusedError, match="Another guide was published in the meantime"):
        use_guide(working, without_grade_3(), "lee", "keep", instead_of=BASE.guide_hash)
    with working.reading() as cursor:
        assert current_guide(cursor) == REVISED


def test_each_lead_has_a_draft_that_others_can_read_and_that_ends_in_force(working: Store) -> None:
    first = save_draft(working, "anything", "lee", None)
    save_draft(working, "---\nhers", "mia", None)
    second = save_draft(working, REVISED.source, "lee", first.revision)
    with working.reading() as cursor:
        assert [(draft.author, draft.source[:8]) for draft in list_drafts(cursor)] == [
            ("lee", "---\ntitl"),
            ("mia", "---\nhers"),
        ]
    assert second.started_from == BASE.guide_hash
    use_guide(working, REVISED, "lee", "keep")
    discard_draft(working, "mia")
    with working.reading() as cursor:
        assert list_drafts(cursor) == []
    assert save_draft(working, "anew", "lee", None).started_from == REVISED.guide_hash
    rows = rows_of(working, "SELECT actor, action FROM events WHERE action LIKE '%draft' ORDER BY rowid")
    assert rows == [
        ("lee", "start guide draft"),
        ("mia", "start guide draft"),
        ("mia", "discard guide draft"),
        ("lee", "start guide draft"),
    ]


def test_a_draft_saved_in_two_windows_loses_neither_text(working: Store) -> None:
    first = save_draft(working, "one", "lee", None)
    save_draft(working, "two", "lee", first.revision)
    with pytest.raises(RefusedError, match="in another window"):
        save_draft(working, "three", "lee", first.revision)
    with pytest.raises(InputError, match="200,001 characters"):
        save_draft(working, "x" * 200_001, "lee", 1)
    assert rows_of(working, "SELECT source FROM guide_drafts ORDER BY revision") == [("one",), ("two",)]
    with working.reading() as cursor:
        draft = find_draft(cursor, "lee")
    assert draft is not None
    assert draft.source == "two"


def test_a_file_that_nobody_could_read_is_no_guide(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_bytes(b"a" * (MAX_BYTES + 1))
    with pytest.raises(InputError, match=r"is larger than 2 MB; expected a guide of readable length"):
        read_guide(path)


def test_a_renamed_grade_is_renamed_in_the_text_and_in_definitions_too() -> None:
    before = parse_guide(TWO_NAMES)
    swapped = TWO_NAMES.replace("name: Near", "name: Far off").replace("name: Far\n", "name: Near\n")
    after = rename_grades_in_text(before, parse_guide(swapped))
    assert [grade.definition for grade in after.scale] == ["Not Far off.", "More than Near."]
    assert after.body == "| 0 | Near |\n| 1 | Far off |\n\nNearby and far stay."
    assert rename_grades_in_text(before, before) is before


def test_a_shipped_example_is_known_in_another_guide() -> None:
    assert has_shipped_examples(parse_guide(read_guide().source.replace("name: Useful", "name: In part")))
    assert not has_shipped_examples(parse_guide(TWO_NAMES))


TWO_NAMES = """---
title: Two names
scale:
  - value: 0
    name: Far
    key: "0"
    colour: "#a8323e"
    definition: Not Near.
  - value: 1
    name: Near
    key: "1"
    colour: "#1c6e45"
    definition: More than Far.
---
| 0 | Far |
| 1 | Near |

Nearby and far stay.
"""
