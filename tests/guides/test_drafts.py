"""Fields of a guide's text: what a form shows, and that nothing else of the text changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.guides.guide_editing import read_fields, write_fields
from curation.guides.guide_text import find_problems, parse_guide, read_guide
from tests.support import examples

SOURCE = """---
# Whoever edits this: keep the order.
title: Shop
other: {fields: [title, price], body: "plain"}   # not a field of the form
# The scale, best last.
scale:
  - {value: 0, name: Bad, key: "0", colour: "#800000", definition: It does not help.}
  - {value: 1, name: Good, key: "1", colour: "#008000", definition: It helps.}

# At the end.
after: 1
---

Read, then press a key.
"""


def test_fields_that_nobody_changes_leave_the_text_as_it_is() -> None:
    for source in (SOURCE, read_guide().source):
        fields = read_fields(source)
        assert fields is not None
        assert write_fields(source, fields) == source


def test_a_changed_entry_leaves_all_others_and_their_comments_byte_for_byte() -> None:
    fields = read_fields(SOURCE)
    assert fields is not None
    written = write_fields(SOURCE, fields.with_grade(1, name="Fits"))
    before, after = SOURCE.splitlines(), written.splitlines()
    kept = [line for line in after if line in before]
    assert [line for line in before if line not in after] == before[6:8]
    assert kept == [line for line in before if line not in before[6:8]]
    assert write_fields(
        written, replace(fields, title="Shop two").with_grade(1, name="Fits")
    ) == written.replace("title: Shop", "title: Shop two")


@given(st.text(max_size=40), st.text(max_size=60), st.text(max_size=60))
@example("", "\x85", "")
@example("one\u2028two", "one\rtwo\nthree", "one\u2029two")
@settings(max_examples=examples(40))
def test_what_is_written_into_fields_is_read_back(name: str, definition: str, body: str) -> None:
    fields = read_fields(SOURCE)
    assert fields is not None
    wanted = replace(
        fields.with_grade(0, name=name, definition=definition), body=body.replace("\r", "").strip()
    )
    assert read_fields(write_fields(SOURCE, wanted)) == wanted


def test_a_new_grade_has_its_own_value_key_and_colour_and_asks_for_words() -> None:
    fields = read_fields(read_guide().source)
    assert fields is not None
    more = fields.with_new_grade()
    assert [grade["value"] for grade in more.grades] == [0, 1, 2, 3, 4]
    assert len({grade["colour"] for grade in more.grades}) == 5
    problems = find_problems(write_fields(read_guide().source, more))
    assert [problem.location for problem in problems] == [("scale", 4, "name"), ("scale", 4, "definition")]
    assert parse_guide(write_fields(read_guide().source, more.without_grade(4))).values == (0, 1, 2, 3)


@pytest.mark.parametrize("source", ["", "no front matter", "---\n- a\n---\n", "---\ntitle: [\n---\n"])
def test_a_text_that_is_no_front_matter_has_no_fields(source: str) -> None:
    assert read_fields(source) is None


def test_problems_are_at_their_line_in_order() -> None:
    broken = (
        SOURCE.replace("#800000", "red").replace('key: "1"', 'key: "u"').replace("title: Shop", "title: ''")
    )
    problems = find_problems(broken.replace("other:", "othr:"))
    assert {one.line for one in problems} == {3, 4, 7, 11}
    lines = broken.splitlines()
    assert "red" in lines[6]
    known = SOURCE.replace(SOURCE.splitlines()[3] + "\n", "").replace("after: 1\n", "")
    (only,) = find_problems(known.replace('key: "1"', 'key: "u"'))
    assert (only.line, only.location) == (7, ("scale", 1, "key"))
