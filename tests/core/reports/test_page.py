"""The one HTML page: nothing from outside, everything escaped, the same bytes for the same input."""

from __future__ import annotations

import re

from curation.core.reports.charts import Mark, draw_intervals
from curation.core.reports.page import Section, html_page
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate

HOSTILE = "</p><script>alert(1)</script>"


def page() -> str:
    table = Table(HOSTILE, (HOSTILE, "n"), ((HOSTILE, 1_234), (None, 0.5)))
    section = Section(
        HOSTILE,
        f"{HOSTILE}\nSecond line.",
        (draw_intervals("t", [Mark("a", Estimate(0.5, 0, 1))]),),
        (table,),
    )
    return html_page(
        HOSTILE, [HOSTILE], [section, Section("Empty", "Nothing.", remark=HOSTILE)], HOSTILE, HOSTILE
    )


def test_a_page_needs_no_script_and_no_network_and_escapes_everything() -> None:
    assert "<script" not in page()
    assert "default-src 'none'" in page()
    assert not re.search(r"\b(src|href)=|url\(|https?:", page())
    assert page().count("&lt;/p&gt;&lt;script&gt;") == 12


def test_the_same_input_gives_the_same_bytes() -> None:
    assert page() == page()


def test_a_table_shows_unknown_whole_and_fractional_numbers() -> None:
    cells = re.findall(r'<td class="number">(.*?)</td>', page())
    assert cells == ["1,234", "–", "0.500"]


def test_a_chart_is_drawn_and_each_line_of_a_sentence_is_a_paragraph() -> None:
    assert "<figure><svg" in page()
    assert "<p>Second line.</p>" in page()
