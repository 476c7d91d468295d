"""Rows as lines, texts in packed pieces, pairs as numbers: all as lists of objects have it."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

from curation.core.digests import ListDigest, canonical_json, digest
from curation.releases.pair_codes import PairCodes, count_common, count_documents
from curation.store import release_parts
from curation.store.release_parts import DAMAGED_TEXT, PartText, pack, sort_lines, unpack
from tests.support.stored_parts import part_text, text_of

ROWS = [
    {"id": f"{number * 7 % 23}", "text": text} for number in range(23) for text in ("é\u2028x", "𝒳", "\ue000")
]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_parts, "RUN_LINES", 4)
    monkeypatch.setattr(release_parts, "RUN_PIECE_LENGTH", 30)
    monkeypatch.setattr(release_parts, "PIECE", 40)


@pytest.mark.parametrize("rows", [ROWS, ROWS[:4], []])
def test_lines_have_the_text_and_the_sums_of_a_list(rows: list[dict[str, Any]]) -> None:
    text = PartText.of_rows(iter(rows))
    assert list(text) == rows
    assert len(text) == len(rows)
    assert str(text) == part_text(rows)
    assert text.sums == text_of(part_text(rows)).sums


def test_lines_are_sorted_by_code_points_as_python_sorts_texts() -> None:
    text = PartText.of_rows(ROWS, ordered=True)
    assert list(text) == sorted(ROWS, key=canonical_json)
    assert len(text) == len(ROWS)
    assert len(text.packed) > 1


def test_a_tab_and_a_number_after_a_line_leave_the_order_of_the_lines() -> None:
    numbered = sort_lines(f"{canonical_json(row)}\t{number}" for number, row in enumerate(ROWS))
    assert [line.rpartition("\t")[0] for line in numbered] == sorted(map(canonical_json, ROWS))


@pytest.mark.parametrize("items", [[], ["one"], ["one", 'two "2"', "é"]])
def test_the_digest_of_a_list_needs_no_list(items: list[str]) -> None:
    sums = ListDigest()
    for item in items:
        sums.add(item)
    assert sums.value() == digest(items)


@pytest.mark.parametrize("text", ["", "\n", "{}\n", "{}", "\n\n", "x" * 100 + "\n\n" + "y" * 90])
def test_a_part_that_was_altered_has_the_same_lines_in_pieces(text: str) -> None:
    found = text_of(text)
    assert list(found.lines()) == (text.removesuffix("\n").split("\n") if text else [])
    assert len(found.sums.line_sums) == 8 * len(found)


@pytest.mark.parametrize("text", ["", "\n", "{}", part_text(ROWS), "é" * 99 + "\n\n" + "y"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_text_is_the_same_in_pieces_of_any_size_cut_anywhere(text: str, size: int) -> None:
    anywhere = [pack(text[start : start + size]) for start in range(0, len(text), size)]
    found = PartText(anywhere)
    assert str(found) == text
    assert found.sums == text_of(text).sums
    assert list(found.lines()) == list(text_of(text).lines())


@pytest.mark.parametrize(
    "piece", [b"", b"no piece", pack("text\n")[:-1], pack("text\n") + b"!", zlib.compress(b"\xff")]
)
def test_a_piece_that_is_none_is_read_as_what_no_part_holds(piece: bytes) -> None:
    assert unpack(piece) == DAMAGED_TEXT
    assert PartText([pack("text\n"), piece]).sums != text_of("text\n").sums


def test_pairs_are_counted_as_numbers_as_they_are_as_tuples() -> None:
    codes, random = PairCodes(), np.random.default_rng(3)
    sides = [
        [{"query_id": f"q{one}", "document_id": f"d{other}"} for one, other in random.integers(0, 9, (60, 2))]
        for _ in range(2)
    ]
    few, many = ({(row["query_id"], row["document_id"]) for row in side} for side in sides)
    first, second = (codes.encode_rows(side) for side in sides)
    assert (len(first), count_common(first, second)) == (len(few), len(few & many))
    assert count_documents(first) == len({document_id for _, document_id in few})
    assert count_common(first, codes.encode_rows([])) == count_common(codes.encode_rows([]), first) == 0
