"""The formats of test collections as records: what each tag says, and what is too large to be meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.ingest.readers import bounds, sgml
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.trec import read_trec_rows

Rows = Callable[..., Iterator[tuple[int, dict[str, Any]]]]


def taken(rows: Rows, text: str) -> list[dict[str, Any]]:
    problems = Problems(Path("some.file"))
    read = [fields for _, fields in rows(text.splitlines(keepends=True), problems)]
    problems.check()
    return read


def refusal(rows: Rows, text: str) -> str:
    with pytest.raises(InputError) as refused:
        taken(rows, text)
    return str(refused.value)


def document(inside: str) -> dict[str, Any]:
    (read,) = taken(read_trec_rows, f"<DOC>\n<DOCNO>1</DOCNO>\n{inside}\n</DOC>\n")
    return read


def topic(inside: str) -> dict[str, Any]:
    (read,) = taken(read_trec_rows, f"<top><num>Number: 7</num>{inside}</top>\n")
    return read


def test_a_cdata_section_is_characters_and_no_mark_up() -> None:
    """It was taken for a tag, and the text was empty."""
    assert document("<TEXT><![CDATA[the whole\nbody: a<b && c>d <!-- x --> &amp;]]></TEXT>")["text"] == (
        "the whole body: a<b && c>d <!-- x --> &amp;"
    )
    assert document("<TEXT>a <!-- <![CDATA[ --> b ]]> <![CDATA[c</TEXT>")["text"] == "a b ]]> c"


def test_a_label_is_removed_from_the_tag_that_it_belongs_to() -> None:
    read = topic("<title> Summary: of the year <desc> Description: Narrative: x <smry> Summary: y")
    assert read == {
        "query_id": "7",
        "text": "Summary: of the year",
        "information_need": "Narrative: x",
        "smry": "y",
    }
    assert topic("<title> Topic: Organized crime")["text"] == "Organized crime"
    assert document("<AUTHOR>Title: Dr</AUTHOR><TEXT>Topic: z</TEXT>")["author"] == "Title: Dr"


def test_of_two_tags_that_could_be_the_query_the_other_is_kept() -> None:
    read = topic("<title>a</title><text>b</text><query>c</query>")
    assert (read["text"], read["text_2"], read["query"]) == ("a", "b", "c")


def test_other_elements_are_kept_by_name_and_a_second_title_apart() -> None:
    read = document("<HEAD>h</HEAD><TITLE>t</TITLE><F>1</F><TEXT>x</TEXT><F>2</F><F> </F>")
    assert read == {"docno": "1", "title": "h", "text": "x", "title_2": "t", "f": "1\n2"}


def test_a_tag_without_an_end_costs_no_more_than_others() -> None:
    """20,000 letters took 5 s, and each doubling four times as long: this would take an hour."""
    assert document(f"<TEXT>x <{'a' * 500_000}</TEXT>")["text"].startswith("x <aaa")
    assert len(document("<F>x</F>" * 20_000)["text"]) == 2 * 20_000 - 1


@pytest.mark.parametrize("inside", ["<a>" * 100, "".join(f"</a{number}>" for number in range(100))])
def test_a_block_of_too_many_elements_is_refused(inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """6 MB of them took 450 MB of memory."""
    monkeypatch.setattr(sgml, "MAX_ELEMENTS", 50)
    sentence = "some.file: line 1: the document has more than 50 elements; expected the elements of one"
    assert sentence in refusal(read_trec_rows, f"<DOC><DOCNO>1</DOCNO>{inside}</DOC>\n")


def test_a_record_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of marks did not count."""
    monkeypatch.setattr(bounds, "MAX_RECORD_LENGTH", 200)
    text = "<DOC>\n" + "ab\n" * 100
    assert "line 1: <DOC> contains more than 0 MB of text" in refusal(read_trec_rows, text)
