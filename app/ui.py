"""Building blocks for pages: functions that show a text, a figure, a table or a document.

Each function escapes the texts of people and documents that it gets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from html import escape
from itertools import zip_longest
from mimetypes import guess_type

import streamlit as st
from markupsafe import Markup

from app.components.document_html import difference_html, document_html
from app.components.links import PageLink, page_link, query_link
from app.components.widgets import show_drawing
from curation.core.errors import CurationError
from curation.core.operation import Result, get_tables
from curation.core.reports.page import Section
from curation.core.reports.tables import BarCell, GradeCell, QueryName, Table, cell_text, is_figure
from curation.core.similarity.text_blocks import TextBlock
from curation.core.statistics.estimate import Estimate
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import Fact, Node
from curation.operations.jobs.figures import DataState

_MARKDOWN_CHARACTER = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&^=])")
_IN_ADDRESS = re.compile(r"(?<=://)(?=\w)|(?<=\bwww)(?=\.\w)", re.IGNORECASE)
"""A pattern of the places where Markdown turns plain words into a link, although the words are escaped."""
_WORD_JOINER = "\u2060"  # a character without width that allows no line break
_COMMAND = re.compile(r"`(goldgrade [^`]+)`")
_FIGURE_CLASS = ' class="gs-figure"'
_PRESELECTED = "parts to show"


def purpose(sentence: str) -> None:
    """Show a page's purpose below its title."""
    st.html(f'<p class="gs-lead">{escape(sentence)}</p>')


def heading(text: str) -> None:
    """Show the heading of a part of a page."""
    st.html(f'<h2 class="gs-heading">{escape(text)}</h2>')


def preselect_parts(parts: Mapping[str, str]) -> None:
    """Select the parts that the page's next run shows: control key → part name."""
    st.session_state[_PRESELECTED] = dict(parts)


def choose_part(label: str, names: Iterable[str], key: str) -> str:
    """Show a control for choosing a part of the page, initially the first; a reload keeps the choice."""
    parts = list(names)
    preselected = st.session_state.get(_PRESELECTED, {}).pop(key, None)
    if preselected is not None:
        st.session_state[key] = preselected
    chosen = st.segmented_control(
        label,
        parts,
        default=parts[0] if preselected is None else None,  # Streamlit warns of both a default and a value
        required=True,
        key=key,
        bind="query-params",
        label_visibility="collapsed",
    )
    return chosen or parts[0]


def verdict(figure: str, label: str, sentence: str) -> None:
    """Show a large figure with a short label and a sentence about the figure's data."""
    st.html(
        f'<div class="gs-verdict"><b>{escape(figure)}</b><div><strong>{escape(label)}</strong>'
        f"<p>{escape(sentence)}</p></div></div>"
    )


def note(sentence: str) -> None:
    """Show a remark below a figure or a table; text in back-ticks is shown as a command."""
    st.html(f'<p class="gs-quiet">{_mark_commands(sentence)}</p>')


def data_time(state: DataState) -> None:
    """Show the time at which the figures of a large project were computed; show nothing for small
    projects."""
    if state.large:
        note(f"Counted at {state.at:%H:%M} UTC. Newer answers are added within a minute.")


def warnings(sentences: Iterable[str]) -> None:
    """Show warnings about the figures that follow on the page."""
    for sentence in sentences:
        st.warning(literal(sentence), icon=":material/gavel:")


def confirmation(sentence: str) -> None:
    """Show a sentence that confirms the last action; screen readers announce the sentence."""
    st.html(f'<p class="gs-done" role="status">{escape(sentence)}</p>')


def success(text: str) -> None:
    """Show the lines of a text in a success box."""
    st.success("\n\n".join(map(literal, text.splitlines())), icon=":material/check:")


def findings(sentences: Iterable[str]) -> None:
    """Show the findings of a report as a list."""
    st.markdown("\n".join(f"- {literal(sentence)}" for sentence in sentences))


def metrics(figures: Mapping[str, str], *names: str) -> None:
    """Show a few large figures side by side, each with a label above it; the first have names as help."""
    with st.container(horizontal=True, gap="large"):
        for (label, figure), name in zip_longest(figures.items(), names):
            st.metric(label, figure, help=name, width="content")


def download(label: str, content: str | bytes | Callable[[], str], file_name: str) -> None:
    """Show a button that downloads a file; the extension of the file name determines the media type."""
    media_type = guess_type(file_name)[0]
    st.download_button(label, content, file_name, media_type, icon=":material/download:", on_click="ignore")


def sentences(*texts: str) -> None:
    """Show each line of the texts as a remark; text in back-ticks is shown as a command."""
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    if lines:
        paragraphs = "".join(f"<p>{_mark_commands(line)}</p>" for line in lines)
        st.html(f'<div class="gs-sentences" dir="auto">{paragraphs}</div>')


def _mark_commands(sentence: str) -> str:
    return _COMMAND.sub(r"<code>\1</code>", escape(sentence))


def literal(text: object) -> str:
    """Escape texts of documents, queries and people, so that Markdown shows them unchanged."""
    return _MARKDOWN_CHARACTER.sub(r"\\\1", _IN_ADDRESS.sub(_WORD_JOINER, " ".join(str(text).split())))


def problem(error: Exception) -> None:
    """Show the sentences of an error, one on each line, leaving out parts that name commands."""
    text = error.found if isinstance(error, CurationError) else str(error)
    st.error("\n\n".join(map(literal, text.splitlines())), icon=":material/error:")


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    words: bool = False,
    current: int | None = None,
    max_rows: int | None = None,
) -> None:
    """Show an HTML table: figures are right-aligned, BarCell and Estimate are drawn as graphics.

    The name of a column is right-aligned if most of its cells are figures.

    Parameters
    ----------
    words: whether long cells break into lines, so that the table does not grow wider than the page.
    current: the index of the selected row.
    max_rows: the maximum number of rows to show; the caption then states the total number of rows.
    """
    shown_rows = list(rows)
    if max_rows is not None and len(shown_rows) > max_rows:
        caption = f"{caption}, {max_rows:,} of {len(shown_rows):,}"
        shown_rows = shown_rows[:max_rows]
    body = "".join(_table_row(row, index == current) for index, row in enumerate(shown_rows))
    head = ""
    for index, column in enumerate(columns):
        has_figures = 2 * sum(is_figure(row[index]) for row in shown_rows) > len(shown_rows)
        name = column if isinstance(column, Markup) else escape(column)
        head += f'<th scope="col"{_FIGURE_CLASS if has_figures else ""}>{name}</th>'
    st.html(
        f'<div class="gs-scroll" role="group" tabindex="0" aria-label="{escape(caption)}">'
        f'<table class="{"gs-table gs-words" if words else "gs-table"}">'
        f"<caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _table_row(row: Sequence[object], is_current: bool) -> str:
    current = ' aria-current="true"' if is_current else ""
    return f"<tr{current}>{''.join(map(_table_cell, row))}</tr>"


def _table_cell(value: object) -> str:
    if isinstance(value, Markup):
        return f"<td>{value}</td>"
    if isinstance(value, BarCell):
        width = 100 * value.part / value.whole if value.whole else 0
        return f'<td><span class="gs-bar"><i style="width:{width:.1f}%"></i></span></td>'
    if isinstance(value, Estimate):
        return f"<td>{_interval_html(value)}</td>"
    if isinstance(value, QueryName):
        return f"<td>{query_link(value, value.query_id, value.document_id)}</td>"
    if isinstance(value, PageLink):
        return f"<td>{page_link(value)}</td>"
    text = cell_text(value)
    if isinstance(value, GradeCell):
        style = "" if value.grade is None else f' style="--grade: {escape(value.colour)}"'
        return f'<td><span class="gs-graded"{style}>{escape(text)}</span></td>'
    if isinstance(value, date):
        text = text.replace("-", "\u2011")  # a date stays on one line
    return f"<td{_FIGURE_CLASS if is_figure(value) else ''}>{escape(text)}</td>"


def _interval_html(estimate: Estimate) -> str:
    """Draw a figure and its interval on a scale from 0 to 1; values outside are drawn at its ends."""

    def to_percent(value: float) -> float:
        return 100 * min(1.0, max(0.0, value))

    line = ""
    if estimate.low is not None and estimate.high is not None:
        left = to_percent(estimate.low)
        line = f'<i style="left:{left:.1f}%;width:{to_percent(estimate.high) - left:.1f}%"></i>'
    return f'<span class="gs-span">{line}<b style="left:{to_percent(estimate.value or 0.0):.1f}%"></b></span>'


def tables(*report_tables: Table) -> None:
    """Show these tables, as the command line prints them; tables without rows are left out."""
    for report_table in report_tables:
        if report_table.rows:
            table(report_table.caption, report_table.columns, report_table.rows, report_table.words)


def result(result: Result) -> None:
    """Show a result's tables and sentences as the command line prints them."""
    tables(*get_tables(result))
    sentences(*result.sentences)


def query(text: str, need: str | None) -> None:
    """Show a query's text with its information need."""
    need_html = f'<p class="gs-need" dir="auto">{escape(need)}</p>' if need else ""
    st.html(f'<p class="gs-query" dir="auto">{escape(text)}</p>{need_html}')


def remarks(label: str, *lines: str) -> None:
    """Show people's remarks below a label, one on each line; the label can be a query's name."""
    lines_html = "".join(f'<span dir="auto">{escape(line)}</span>' for line in lines)
    label_html = query_link(label, label.query_id) if isinstance(label, QueryName) else escape(label)
    st.html(f'<div class="gs-opinion"><b dir="auto">{label_html}</b>{lines_html}</div>')


def document(
    title: Iterable[Segment],
    body: Iterable[Node],
    facts: Iterable[str | None] = (),
    fields: Iterable[Fact] | None = None,
) -> None:
    """Show a document with the query's words marked.

    Parameters
    ----------
    facts: texts about the document, such as its id and its date, in one line below the title.
    fields: the fields of the document that the guide's template selects.
    """
    st.html(document_html(title, body, facts, fields or ()))


def text_difference(title: Iterable[TextBlock], body: Iterable[TextBlock]) -> None:
    """Show two versions of a document as one text: removed words struck through, added words underlined."""
    st.html(
        '<article class="gs-document gs-difference" tabindex="0">'
        f'<h2 dir="auto">{difference_html(title)}</h2><div dir="auto">{difference_html(body)}</div></article>'
    )


def changed_words(blocks: Iterable[TextBlock]) -> None:
    """Show two versions of a sentence as one: removed words struck through, added words underlined."""
    st.html(f'<p class="gs-difference" dir="auto">{difference_html(blocks)}</p>')


def section(section: Section, words: bool = False) -> None:
    """Show a section of a report without its heading: its sentence, drawings, tables and remark."""
    sentences(section.sentence)
    for svg in section.drawings:
        show_drawing(svg)
    for report_table in section.tables:
        breaks_lines = words or report_table.words
        table(report_table.caption, report_table.columns, report_table.rows, breaks_lines)
    if section.remark:
        note(section.remark)


def folded(report_sections: Iterable[Section], open_count: int = 0, words: bool = False) -> None:
    """Show sections of a report below their headings; only the first `open_count` sections are open."""
    for index, report_section in enumerate(report_sections):
        with st.expander(report_section.heading, expanded=index < open_count):
            section(report_section, words)
