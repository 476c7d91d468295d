"""Rows as lines, texts packed, pairs as numbers: all as lists of objects have it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from curation.releases import lines, stored, texts
from curation.releases.lines import pieces_of, row_lines, text_value
from curation.releases.pairs import PairCodes, documents_of, number_in
from curation.releases.stored import part_lines, part_sum, part_text, sum_of_pieces, walked
from curation.releases.texts import PackedTexts
from curation.text import canonical_json, digest, digest_of_list

ROWS = [
    {"id": f"{number * 7 % 23}", "text": text} for number in range(23) for text in ("é\u2028x", "𝒳", "\ue000")
]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BATCH", 4)
    monkeypatch.setattr(stored, "PIECE", 40)


@pytest.mark.parametrize("rows", [ROWS, ROWS[:4], []])
def test_lines_have_the_text_and_the_sums_of_a_list(rows: list[dict[str, Any]]) -> None:
    found = row_lines(iter(rows))
    assert list(found) == rows
    assert len(found) == len(rows)
    text = part_text(rows)
    for table in (found, rows):
        assert text_value(table).to_pylist() == [text]
        assert sum_of_pieces(pieces_of(table)) == part_sum(text)


def test_lines_are_sorted_by_code_points_as_python_sorts_texts() -> None:
    found = row_lines(ROWS, ordered=True)
    assert list(found) == sorted(ROWS, key=canonical_json)
    assert sum(map(len, found.batches())) == len(ROWS)


def test_each_group_has_its_own_lines_sorted() -> None:
    groups = np.arange(len(ROWS)) % 3 * 2  # 1 is nobody's
    found = {number: list(own) for number, own in row_lines(ROWS, ordered=True).of_groups(groups)}
    assert found == {
        number: sorted(
            map(canonical_json, (row for row, own in zip(ROWS, groups, strict=True) if own == number))
        )
        for number in (0, 2, 4)
    }


@pytest.mark.parametrize("items", [[], ["one"], ["one", 'two "2"', "é"]])
def test_the_digest_of_a_list_needs_no_list(items: list[str]) -> None:
    assert digest_of_list(iter(items)) == digest(items)


@pytest.mark.parametrize("text", ["", "\n", "{}\n", "{}", "\n\n", "x" * 100 + "\n\n" + "y" * 90])
def test_a_part_that_was_altered_has_the_same_lines_in_pieces(text: str) -> None:
    found = part_sum(text)
    assert found.lines == len(part_lines(text))
    assert len(found.line_sums) == 8 * found.lines


def test_rows_of_a_stored_part_are_walked_one_by_one() -> None:
    assert list(walked(part_text(ROWS))) == ROWS


@pytest.mark.parametrize("text", ["", "\n", "{}", part_text(ROWS), "é" * 99 + "\n\n" + "y"])
def test_packed_texts_are_the_texts_and_have_their_sums(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "PIECE", 7)
    packed = PackedTexts()
    packed.add("b", text)
    packed.add("a", "")
    assert dict(packed) == {"a": "", "b": text}
    assert packed.sums == {"a": part_sum(""), "b": part_sum(text)}
    assert [line for piece in packed.pieces("b") for line in part_lines(piece)] == part_lines(text)
    assert packed.get("c") is None


def test_pairs_are_counted_as_numbers_as_they_are_as_tuples() -> None:
    codes, random = PairCodes(), np.random.default_rng(3)
    sides = [
        [{"query_id": f"q{one}", "document_id": f"d{other}"} for one, other in random.integers(0, 9, (60, 2))]
        for _ in range(2)
    ]
    few, many = ({(row["query_id"], row["document_id"]) for row in side} for side in sides)
    first, second = (codes.of(side) for side in sides)
    assert (len(first), number_in(first, second)) == (len(few), len(few & many))
    assert documents_of(first) == len({document_id for _, document_id in few})
    assert number_in(first, codes.of([])) == number_in(codes.of([]), first) == 0
