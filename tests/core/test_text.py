"""Text that stands among other text."""

import re

from curation.core.characters import isolate, normalise_query, show_controls
from curation.core.similarity.shingles import character_shingles
from curation.core.text import decimal, p_cell, p_text, percent, pluralize, pluralize_label
from curation.splits.certificate_shingles import character_shingles as certified_shingles
from tests.support import ROOT


def test_an_isolated_text_cannot_end_its_isolate() -> None:
    assert isolate("a\u202eb\u2069c\u2066d") == "\u2068a\u202ebcd\u2069"


def test_the_certificate_knows_the_same_invisible_characters_by_another_definition() -> None:
    letters = [chr(code) for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000]
    folded = [letter for letter in letters if normalise_query(f"a{letter}b") == "ab"]
    assert len(folded) > 400
    for letter in (*folded, "\u0600", "\u3000", "\u2800", "é", "\U000133b0"):
        assert certified_shingles(f"a{letter}bc") == character_shingles(f"a{letter}bc"), hex(ord(letter))


def test_flags_of_regions_stay_apart() -> None:
    england, wales = (
        "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in f"{region}\x7f")
        for region in ("gbeng", "gbwls")
    )
    assert normalise_query(f"{england} shirt") != normalise_query(f"{wales} shirt")
    assert normalise_query(f"{wales}\u200b shirt") == normalise_query(f"{wales} shirt")
    assert certified_shingles(f"{england} x") == character_shingles(f"{england} x")


def test_no_text_commands_a_terminal() -> None:
    sent = "\x1b]0;title\x07 \x9b2J red\x7f\rover ünd\tso\nweiter"
    assert show_controls(sent) == "␛]0;title␇ \ufffd2J red␡␍over ünd\tso\nweiter"


def test_shares_and_decimals_are_written_in_one_way() -> None:
    assert [percent(0.5), percent(0.66666, 1), percent(None)] == ["50\u00a0%", "66.7\u00a0%", "–"]
    assert [decimal(-0.1234), decimal(1234.5, 1), decimal(0.2, 2, "+")] == ["\u22120.123", "1,234.5", "+0.20"]


def test_one_thing_is_not_called_by_a_plural() -> None:
    assert [pluralize(1, "query", "queries"), pluralize(1200, "pair")] == ["1 query", "1,200 pairs"]
    labels = {
        **{"queries asked": "1 query asked", "new judgments": "1 new judgment"},
        **{"pairs outside pools": "1 pair outside pools", "unchanged": "1 unchanged", "×": "1 ×", "": "1 "},
    }
    assert {label: pluralize_label(1, label) for label in labels} == labels
    assert [pluralize_label(number, "rows of traffic") for number in (0, 2)] == [
        "0 rows of traffic",
        "2 rows of traffic",
    ]


def test_no_module_writes_a_count_before_a_plural_of_its_own() -> None:
    """What a release or a report keeps stays as it was written: its id depends on it."""
    written = re.compile(r"\{[a-z_.()]+:,\} (queries|pairs|documents|judgments|annotators|items|rounds)\b")
    kept = ("card", "export", "freeze", "frame", "demo", "limits")
    own = {
        f"{path.relative_to(ROOT)}: {found[0]}"
        for room in ("app", "curation")
        for path in sorted((ROOT / room).rglob("*.py"))
        if not set(kept).intersection((*path.parts, path.stem))
        for found in written.finditer(path.read_text(encoding="utf-8"))
    }
    assert own == {
        "curation/evaluation/evaluate.py: {depth:,} documents",
        "curation/releases/coverage.py: {coverage.least_documents:,} documents",
    }


def test_no_module_writes_shares_of_its_own() -> None:
    """Widths in style sheets are not shares, and a card keeps the bytes of earlier exports."""
    own = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for room in ("app", "curation")
        for path in sorted((ROOT / room).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r":\.\d%\}", line) and "inline-size" not in line and path.stem not in ("card", "limits")
    ]
    assert own == ['app/views/releases/bars.py: return f"{clip_share(value):.2%}"']


def test_a_p_too_small_for_three_decimals_is_never_shown_as_nothing() -> None:
    assert [p_text(p) for p in (0.0, 0.0009, 0.001, 0.0495, 1.0, None)] == [
        *("<\u00a00.001", "<\u00a00.001", "0.001", "0.050", "1.000", "–")
    ]
    assert [p_cell(p) for p in (1e-9, 0.25, None)] == ["<\u00a00.001", 0.25, None]
