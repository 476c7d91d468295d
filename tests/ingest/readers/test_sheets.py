"""Spreadsheets: every row of the visible table, in bounds, and a sentence for whatever is damaged."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest

pytest.importorskip("python_calamine", reason="python-calamine is not installed: pip install -e .[test]")

from curation.core.errors import InputError
from curation.ingest.outcome import describe_replaced
from curation.ingest.readers import sheet_bounds
from curation.ingest.readers.fields import CorpusFields
from curation.ingest.readers.records import Records

HEADER = ("query", "docid", "grade")
SHEET = "xl/worksheets/sheet1.xml"
NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


@pytest.fixture
def sheet(tmp_path: Path) -> Callable[..., Path]:
    """A spreadsheet of these rows, after something is done to the book."""

    def save(*rows: Any, change: Callable[[Any], object] = lambda book: None) -> Path:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        change(book)
        book.save(tmp_path / "a.xlsx")
        return tmp_path / "a.xlsx"

    return save


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    return [tuple(record.fields.values()) for record in Records(path)]


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused:
        rows_of(path)
    return str(refused.value)


def with_parts(path: Path, **changed: bytes) -> Path:
    """The spreadsheet with other contents of its sheet, or with texts beside it."""
    names = {"sheet1": SHEET, "sharedStrings": "xl/sharedStrings.xml"}
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts |= {names[name]: content for name, content in changed.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def cells(*xml: str) -> bytes:
    return f"<worksheet {NAMESPACE}><sheetData>{''.join(xml)}</sheetData></worksheet>".encode()


@pytest.mark.parametrize(
    ("name", "column", "values"),
    [
        ("dimension_log", "count", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
        ("dimension_rows", "grade", [0, 1, 2, 3, 0]),
        ("dimension_run", "score", [1, 3, 9, 2, 1]),
        ("dimension_a1", "grade", [3, 2]),
        ("fill", "grade", [3, 2]),
        ("right", "grade", [0, 1, 2, 3, 0]),
    ],
)
def test_every_row_is_read_whatever_the_sheet_says_of_its_size_or_style(
    cases: Path, name: str, column: str, values: list[int]
) -> None:
    records = Records(cases / f"binary/xlsx_{name}.xlsx")
    assert [record.fields[column] for record in records] == values


def test_a_sheet_that_is_cut_off_is_refused(cases: Path) -> None:
    sentence = "cannot be read as a spreadsheet: xl/worksheets/sheet1.xml is damaged: unclosed token"
    assert sentence in refusal(cases / "binary/xlsx_cut_sheet.xlsx")


def test_ids_that_a_sheet_has_changed_are_refused_by_row(cases: Path) -> None:
    records = Records(cases / "binary/xlsx_typed_ids.xlsx")
    records.resolve(CorpusFields())
    read: list[str] = []
    with pytest.raises(InputError) as refused:
        read.extend(record.fields["id"] for record in records)
    assert read[:1] == ["MAR-10"]
    found = ((3, "a date or a time"), (7, "not an integer"), (8, "a Boolean value"), (9, "too many digits"))
    for line, what in found:
        assert f"row {line}: 'id' is " in str(refused.value)
        assert what in str(refused.value)
    assert len(refused.value.problems) == 4


def test_ids_that_may_have_lost_digits_are_counted_and_said(sheet: Callable[..., Path]) -> None:
    records = Records(sheet(("id", "text"), (123456789012345, "a"), (1234567890123450, "b")))
    records.resolve(CorpusFields())
    assert [record.fields["id"] for record in records] == ["123456789012345", "1234567890123450"]
    assert describe_replaced(records.replaced) == [
        "1 id has more than 15 digits. A spreadsheet keeps 15 digits: further digits may be wrong."
    ]


def test_a_hidden_sheet_is_no_table(sheet: Callable[..., Path]) -> None:
    def hide(book: Any) -> None:
        book.create_sheet("Choices").append(["0"])
        book["Choices"].sheet_state = "veryHidden"

    assert rows_of(sheet(HEADER, ("tea", "d1", 3), change=hide)) == [("tea", "d1", 3)]


def test_a_hidden_sheet_that_is_the_only_one_with_rows_is_refused(sheet: Callable[..., Path]) -> None:
    def hide(book: Any) -> None:
        book.create_sheet("Empty")
        book["Sheet"].sheet_state = "hidden"

    sentence = refusal(sheet(HEADER, ("tea", "d1", 3), change=hide))
    assert "has no visible sheet with rows; hidden: Sheet" in sentence
    assert "Unhide the sheet" in sentence


def test_a_second_sheet_with_rows_is_refused(sheet: Callable[..., Path]) -> None:
    path = sheet(HEADER, ("tea", "d1", 3), change=lambda book: book.create_sheet("more").append(["x"]))
    assert "2 sheets with rows (Sheet, more); expected one" in refusal(path)


def test_a_title_of_several_cells_is_refused_with_what_to_do(sheet: Callable[..., Path]) -> None:
    sentence = refusal(sheet(("Judgments", None, None, "March"), (), HEADER, ("tea", "d1", 3)))
    assert "row 3: a cell in a column without a name" in sentence
    assert "delete the rows above the names" in sentence


def test_cells_that_are_merged_over_rows_are_refused(sheet: Callable[..., Path]) -> None:
    rows = [HEADER, ("tea", "d1", 3), (None, "d2", 0)]
    sentence = refusal(sheet(*rows, change=lambda book: book.active.merge_cells("A2:A3")))
    assert "has cells that are merged over several rows" in sentence
    assert rows_of(sheet(*rows, change=lambda book: book.active.merge_cells("D2:E2")))


def test_types_are_those_of_the_sheet(sheet: Callable[..., Path]) -> None:
    row = (1, 2.5, True, date(2026, 3, 1), " a\nb ", 1e21, "007")
    path = sheet([str(number) for number in range(len(row))], row)
    [read] = rows_of(path)
    assert [*map(repr, read)] == [
        *("1", "2.5", "True", "datetime.datetime(2026, 3, 1, 0, 0)", "' a\\nb '", "1e+21", "'007'")
    ]


FAR = [
    *(("XFD1048576", "more than"), ("A99999999", "no sheet can have"), ("XFE1", "no sheet can have")),
    *(
        ("ZZZZZZZ1", "no sheet can have"),
        ("A0", "no sheet can have"),
        ("", "no sheet can have"),
        ("1A", "no sheet can have"),
    ),
]


@pytest.mark.parametrize(("place", "sentence"), FAR)
def test_a_far_cell_is_refused_by_its_place(sheet: Callable[..., Path], place: str, sentence: str) -> None:
    first = '<row r="1"><c r="A1" t="inlineStr"><is><t>query</t></is></c></row>'
    body = cells(first, f'<row r="2"><c r="{place}"><v>1</v></c></row>')
    assert sentence in refusal(with_parts(sheet(HEADER), sheet1=body))


def test_a_far_cell_without_a_value_is_none(sheet: Callable[..., Path]) -> None:
    rows = [f'<row r="{row}"><c t="inlineStr"><is><t>{row}</t></is></c></row>' for row in (1, 2)]
    body = cells(*rows, '<row r="1048576"><c r="XFD1048576" s="0"/></row>')
    assert rows_of(with_parts(sheet(HEADER), sheet1=body)) == [("2",)]


def test_cells_are_bounded_by_their_number_wherever_they_are(
    sheet: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheet_bounds, "MAX_CELLS", 100)
    row = "<row>" + "".join(f"<c><v>{number}</v></c>" for number in range(10)) + "</row>"
    assert len(rows_of(with_parts(sheet(HEADER), sheet1=cells(row * 10)))) == 9
    assert "more than 100 cells" in refusal(with_parts(sheet(HEADER), sheet1=cells(row * 10, "<row/>", row)))
    same = '<row r="1"><c r="A1"><v>1</v></c></row>' * 101
    assert "more than 100 cells" in refusal(with_parts(sheet(HEADER), sheet1=cells(same)))


@pytest.mark.parametrize("count", ["99999999999999", str(2**70), "x"])
def test_a_number_of_texts_that_no_file_has_is_refused(sheet: Callable[..., Path], count: str) -> None:
    strings = f'<sst {NAMESPACE} uniqueCount="{count}"><si><t>query</t></si></sst>'.encode()
    assert "cannot be read as a spreadsheet" in refusal(with_parts(sheet(HEADER), sharedStrings=strings))


def test_entities_are_refused_before_they_are_expanded(sheet: Callable[..., Path]) -> None:
    body = b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + cells('<row><c t="str"><v>&a;</v></c></row>')
    assert "has a DOCTYPE" in refusal(with_parts(sheet(HEADER), sheet1=body))


def damaged(content: bytes, seed: int) -> bytes:
    """The bytes with some flipped, cut out or taken twice."""
    draw = random.Random(seed)
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8))):
        at = draw.randrange(len(changed))
        kind = draw.randrange(4)
        if kind == 0:
            changed[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            changed[at] = draw.choice(b'<>&"/=0129AZ\x00\xff')
        elif kind == 2:
            del changed[at : at + draw.randrange(1, 60)]
        else:
            changed[at:at] = changed[draw.randrange(len(changed)) :][: draw.randrange(1, 40)]
        if not changed:
            break
    return bytes(changed[: draw.randrange(len(changed) + 1)] if draw.random() < 0.1 else changed)


def sheets_with_damage(good: Path, count: int) -> Iterator[tuple[str, bytes]]:
    """Every other one has its zip damaged; the others one part within a sound zip."""
    whole = good.read_bytes()
    with zipfile.ZipFile(good) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for seed in range(count):
        if seed % 2:
            yield f"zip {seed}", damaged(whole, seed)
            continue
        name = sorted(parts)[seed // 2 % len(parts)]
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for other, content in parts.items():
                archive.writestr(other, damaged(content, seed) if other == name else content)
        yield f"{name} {seed}", packed.getvalue()


def test_a_damaged_sheet_is_read_or_refused_with_a_sentence(
    sheet: Callable[..., Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def fill(book: Any) -> None:
        book.active.append([date(2026, 3, 1), 1.5, True])
        book.active.merge_cells("D2:E2")

    good = sheet(HEADER, ("tea", "d1", 3), (None, "d2", "é"), change=fill)
    refused = 0
    for name, content in sheets_with_damage(good, 600):
        path = tmp_path / "damaged.xlsx"
        path.write_bytes(content)
        try:
            rows_of(path)
        except InputError:
            refused += 1
        except BaseException as error:
            raise AssertionError(f"{name} ends in {type(error)}") from error
    assert 200 < refused < 600
