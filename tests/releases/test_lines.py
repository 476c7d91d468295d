"""Rows as lines, texts in packed pieces, pairs as numbers: all as lists of objects have it."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from curation.releases import lines
from curation.releases.lines import packed_of, pieces_of, row_lines, sorted_lines
from curation.releases.pairs import PairCodes, documents_of, number_in
from curation.releases.stored import part_lines, part_sum, sum_of_pieces, walked
from curation.releases.texts import PackedTexts
from curation.store import release_parts
from curation.store.release_parts import DAMAGED, pack, pieces_of_text, unpack
from curation.text import ListDigest, canonical_json, digest
from tests.support.stored_parts import part_text

ROWS = [
    {"id": f"{number * 7 % 23}", "text": text} for number in range(23) for text in ("é\u2028x", "𝒳", "\ue000")
]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "RUN", 4)
    monkeypatch.setattr(lines, "RUN_PIECE", 30)
    monkeypatch.setattr(release_parts, "PIECE", 40)


@pytest.mark.parametrize("rows", [ROWS, ROWS[:4], []])
def test_lines_have_the_text_and_the_sums_of_a_list(rows: list[dict[str, Any]]) -> None:
    found = row_lines(iter(rows))
    assert list(found) == rows
    assert len(found) == len(rows)
    text = part_text(rows)
    for table in (found, rows):
        assert "".join(map(unpack, packed_of(table))) == text
        assert sum_of_pieces(pieces_of(table)) == part_sum(text)


def test_lines_are_sorted_by_code_points_as_python_sorts_texts() -> None:
    found = row_lines(ROWS, ordered=True)
    assert list(found) == sorted(ROWS, key=canonical_json)
    assert len(found) == len(ROWS)
    assert len(found.packed) > 1


def test_a_tab_and_a_number_after_a_line_leave_the_order_of_the_lines() -> None:
    numbered = sorted_lines(f"{canonical_json(row)}\t{number}" for number, row in enumerate(ROWS))
    assert [line.rpartition("\t")[0] for line in numbered] == sorted(map(canonical_json, ROWS))


@pytest.mark.parametrize("items", [[], ["one"], ["one", 'two "2"', "é"]])
def test_the_digest_of_a_list_needs_no_list(items: list[str]) -> None:
    found = ListDigest()
    for item in items:
        found.add(item)
    assert found.value() == digest(items)


@pytest.mark.parametrize("text", ["", "\n", "{}\n", "{}", "\n\n", "x" * 100 + "\n\n" + "y" * 90])
def test_a_part_that_was_altered_has_the_same_lines_in_pieces(text: str) -> None:
    found = part_sum(text)
    assert found.lines == len(part_lines(text))
    assert len(found.line_sums) == 8 * found.lines


def test_rows_of_a_stored_part_are_walked_one_by_one() -> None:
    assert list(walked(part_text(ROWS))) == ROWS


@pytest.mark.parametrize("text", ["", "\n", "{}", part_text(ROWS), "é" * 99 + "\n\n" + "y"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_text_is_the_same_in_pieces_of_any_size_cut_anywhere(text: str, size: int) -> None:
    anywhere = [pack(text[start : start + size]) for start in range(0, len(text), size)]
    packed = PackedTexts({"b": [*map(pack, pieces_of_text(text))], "a": [pack("")], "cut": anywhere})
    assert dict(packed) == {"a": "", "b": text, "cut": text}
    assert packed.sums == {"a": part_sum(""), "b": part_sum(text), "cut": part_sum(text)}
    for part in ("b", "cut"):
        assert [line for piece in packed.pieces(part) for line in part_lines(piece)] == part_lines(text)
    assert packed.get("c") is None


@pytest.mark.parametrize(
    "piece", [b"", b"no piece", pack("text\n")[:-1], pack("text\n") + b"!", zlib.compress(b"\xff")]
)
def test_a_piece_that_is_none_is_read_as_what_no_part_holds(piece: bytes) -> None:
    assert unpack(piece) == DAMAGED
    assert PackedTexts({"a": [pack("text\n"), piece]}).sums["a"] != part_sum("text\n")


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
