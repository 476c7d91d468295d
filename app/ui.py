"""Functions that show texts, figures, tables and documents on pages, and escape texts of people and
documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from html import escape
from mimetypes import guess_type

import streamlit as st
from markupsafe import Markup

from app.components.links import PageLink, page_link, query_link
from app.components.widgets import drawing
from curation.core.characters import isolated
from curation.core.errors import CurationError
from curation.core.operation import Result, tables_of
from curation.core.reports.page import BarCell, GradeCell, QueryName, Section, Table, cell_text, is_figure
from curation.core.similarity.text_blocks import TextBlock
from curation.core.statistics.estimate import Estimate
from curation.labeling.presentation.excerpts import Segment
from curation.labeling.presentation.markup import NAMES, Element, Fact, Node
from curation.operations.jobs.figures import DataState

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&^=])")
_ADDRESS = re.compile(r"(?<=://)(?=\w)|(?<=\bwww)(?=\.\w)", re.IGNORECASE)
"""A pattern of the places where Markdown turns plain words into a link, although the words are escaped."""
_JOINED = "\u2060"  # no width, and no break of the line
_COMMAND = re.compile(r"`(goldgrade [^`]+)`")
_AROUND_BREAKS = re.compile(r" *(\n+) *")
_HELD = re.compile("p|h[3-6]|li|d[td]|t[dh]|caption|blockquote|pre")
"""HTML elements that contain text of a document and keep the text's writing direction."""
_FIGURE = ' class="gs-figure"'
_CHOSEN = "parts to show"


def lead(sentence: str) -> None:
    """Show the purpose of a page below its title."""
    st.html(f'<p class="gs-lead">{escape(sentence)}</p>')


def heading(words: str) -> None:
    """Show the heading of a part of a page."""
    st.html(f'<h2 class="gs-heading">{escape(words)}</h2>')


def choose_parts(parts: Mapping[str, str]) -> None:
    """Choose which parts the next run of the page shows, by the keys of the selection widgets."""
    st.session_state[_CHOSEN] = dict(parts)


def part(label: str, names: Iterable[str], key: str) -> str:
    """Show a control to choose a part of the page, initially the first part; a reload keeps the choice."""
    parts = list(names)
    chosen = st.session_state.get(_CHOSEN, {}).pop(key, None)
    if chosen is not None:
        st.session_state[key] = chosen
    shown = st.segmented_control(
        label,
        parts,
        default=parts[0] if chosen is None else None,  # Streamlit warns of both a default and a value
        required=True,
        key=key,
        bind="query-params",
        label_visibility="collapsed",
    )
    return shown or parts[0]


def verdict(figure: str, state: str, sentence: str) -> None:
    """Show a large figure with a one-word label and a sentence about the data of the figure."""
    st.html(
        f'<div class="gs-verdict"><b>{escape(figure)}</b><div><strong>{escape(state)}</strong>'
        f"<p>{escape(sentence)}</p></div></div>"
    )


def quiet(sentence: str) -> None:
    """Show a remark below a figure or a table; text in back-ticks is shown as a command."""
    st.html(f'<p class="gs-quiet">{_commands(sentence)}</p>')


def as_of(state: DataState) -> None:
    """Show the time at which the figures of a large project were computed; figures of a small project are
    live.
    """
    if state.large:
        quiet(f"As of {state.at:%H:%M} UTC. Newer answers are counted within a minute.")


def warnings(sentences: Iterable[str]) -> None:
    """Show warnings about the figures that follow on the page."""
    for sentence in sentences:
        st.warning(plain(sentence), icon=":material/gavel:")


def confirmation(sentence: str) -> None:
    """Show a sentence that confirms the last action; screen readers announce the sentence."""
    st.html(f'<p class="gs-done" role="status">{escape(sentence)}</p>')


def success(text: str) -> None:
    """Show the lines of a text in a success box."""
    st.success("\n\n".join(map(plain, text.splitlines())), icon=":material/check:")


def findings(sentences: Iterable[str]) -> None:
    """Show the findings of a report as a list."""
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in sentences))


def metrics(figures: Mapping[str, str]) -> None:
    """Show a few large figures side by side, each with a label above."""
    with st.container(horizontal=True, gap="large"):
        for label, figure in figures.items():
            st.metric(label, figure, width="content")


def download(label: str, content: str | bytes | Callable[[], str], file_name: str) -> None:
    """Show a button that downloads a file; the extension of the file name determines the media type."""
    media_type = guess_type(file_name)[0]
    st.download_button(label, content, file_name, media_type, icon=":material/download:", on_click="ignore")


def sentences(*texts: str) -> None:
    """Show each line of the texts as a remark; text in back-ticks is shown as a command."""
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    if lines:
        paragraphs = "".join(f"<p>{_commands(line)}</p>" for line in lines)
        st.html(f'<div class="gs-sentences" dir="auto">{paragraphs}</div>')


def _commands(sentence: str) -> str:
    return _COMMAND.sub(r"<code>\1</code>", escape(sentence))


def plain(text: object) -> str:
    """Escape texts of documents, queries and people so that Markdown shows the texts unchanged, on one
    line.
    """
    return _MARKDOWN.sub(r"\\\1", _ADDRESS.sub(_JOINED, " ".join(str(text).split())))


def problem(error: Exception) -> None:
    """Show the sentences of an error, one sentence a line, without the parts that name commands."""
    text = error.found if isinstance(error, CurationError) else str(error)
    st.error("\n\n".join(map(plain, text.splitlines())), icon=":material/error:")


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    words: bool = False,
    current: int | None = None,
    most: int | None = None,
) -> None:
    """Show an HTML table: figures are right-aligned, None is a dash, BarCell and Estimate are drawn as
    graphics.

    With `words`, the table breaks long cells into lines instead of growing wider than the page.

    Parameters
    ----------
    current: the index of the selected row.
    most: the maximum number of rows to show; the caption then states the total number of rows.
    """
    lines, chosen = list(rows), ' aria-current="true"'
    if most is not None and len(lines) > most:
        caption = f"{caption}, {most:,} of {len(lines):,}"
        lines = lines[:most]
    body = "".join(
        f"<tr{chosen if number == current else ''}>{''.join(map(_cell, row))}</tr>"
        for number, row in enumerate(lines)
    )
    figures = [bool(lines) and all(is_figure(row[index]) for row in lines) for index in range(len(columns))]
    head = "".join(
        f'<th scope="col"{_FIGURE if right else ""}>{escape(column)}</th>'
        for column, right in zip(columns, figures, strict=True)
    )
    st.html(
        f'<div class="gs-scroll" role="group" tabindex="0" aria-label="{escape(caption)}">'
        f'<table class="{"gs-table gs-words" if words else "gs-table"}">'
        f"<caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def tables(*shown: Table) -> None:
    """Show the tables that the command line also prints; tables without rows are left out."""
    for drawn in shown:
        if drawn.rows:
            table(drawn.caption, drawn.columns, drawn.rows, drawn.words)


def show(result: Result) -> None:
    """Show the tables and sentences of a result, as the command line prints them."""
    tables(*tables_of(result))
    sentences(*result.sentences)


def query(text: str, need: str | None) -> None:
    """Show a query with its information need."""
    below = f'<p class="gs-need" dir="auto">{escape(need)}</p>' if need else ""
    st.html(f'<p class="gs-query" dir="auto">{escape(text)}</p>{below}')


def said(about: str, *words: str) -> None:
    """Show people's remarks about a topic, one remark a line."""
    lines = "".join(f'<span dir="auto">{escape(line)}</span>' for line in words)
    named = query_link(about, about.query_id) if isinstance(about, QueryName) else escape(about)
    st.html(f'<div class="gs-opinion"><b dir="auto">{named}</b>{lines}</div>')


def document(
    title: Iterable[Segment],
    body: Iterable[Node],
    facts: Iterable[str | None] = (),
    fields: Iterable[Fact] | None = None,
) -> None:
    """Show a document with the query's words marked; `fields` are the fields of the guide's document
    template.
    """
    below = "  ·  ".join(isolated(fact) for fact in facts if fact)
    heading, nodes = _marked(title) or "Untitled document", list(body)
    drawn = ' class="drawn"' if any(isinstance(node, Element) for node in nodes) else ""
    pictures, words = _fields(fields or ())
    st.html(
        f'<article class="gs-document" tabindex="0">{pictures}<h2 dir="auto">{heading}</h2>'
        f'<p class="gs-quiet">{escape(below)}</p>{words}'
        f'<div dir="auto"{drawn}>{"".join(map(_drawn, nodes))}</div></article>'
    )


def _fields(facts: Iterable[Fact]) -> tuple[str, str]:
    """Return the fields of a document as HTML: the pictures, and the other fields."""
    pictures, words = "", ""
    for label, value in facts:
        inner = "".join(map(_drawn, value))
        if isinstance(value[0], Element) and value[0].attributes.get("src"):
            pictures += inner
        else:
            name = f"<b>{escape(label)}</b>" if label else ""
            words += f"<span>{name}<bdi>{inner}</bdi></span>"
    return (
        f'<div class="pictures">{pictures}</div>' if pictures else "",
        f'<p class="fields">{words}</p>' if words else "",
    )


def _drawn(node: Node) -> str:
    """Return a node of a document as HTML that contains only safe elements, safe attributes and escaped
    text.
    """
    if isinstance(node, Segment):
        return _marked([node])
    name, attributes, children = node
    inner = "".join(map(_drawn, children))
    if name == "img":
        return _picture(attributes)
    if name == "a" and attributes.get("href"):
        rel = 'target="_blank" rel="noopener noreferrer nofollow"'
        return f'<a href="{escape(attributes["href"])}" {rel}>{inner}</a>'
    if name not in NAMES:
        return inner
    if name in ("br", "hr"):
        return f"<{name}>"
    wide, cut = name in ("table", "pre"), attributes.get("cut")
    written = "".join(
        f' {key}="{int(attributes[key])}"' for key in ("start", "colspan", "rowspan") if key in attributes
    )
    goes_on = f' data-cut="{escape(cut)}"' if cut else ""
    held = ' dir="auto"' if _HELD.fullmatch(name) else ""
    html = f"<{name}{held}{written}{'' if wide else goes_on}>{inner}</{name}>"
    around = f'class="across" tabindex="0" role="group" aria-label="{"Code" if name == "pre" else "Table"}"'
    return f"<div {around}{goes_on}>{html}</div>" if wide else html


def _picture(attributes: Mapping[str, str]) -> str:
    words, source = escape(attributes.get("alt", "")), attributes.get("src", "")
    if not source:
        return f'<span class="no-picture" dir="auto">{words}</span>'
    return f'<img src="{escape(source)}" alt="{words}" referrerpolicy="no-referrer">'


def text_difference(title: Iterable[TextBlock], body: Iterable[TextBlock]) -> None:
    """Show two versions of a document as one text: removed words struck through, added words underlined."""
    st.html(
        f'<article class="gs-document gs-difference" tabindex="0"><h2 dir="auto">{_changed(title)}</h2>'
        f'<div dir="auto">{_changed(body)}</div></article>'
    )


def changed_words(blocks: Iterable[TextBlock]) -> None:
    """Show two versions of a sentence as one sentence: removed words struck through, added words
    underlined.
    """
    st.html(f'<p class="gs-difference" dir="auto">{_changed(blocks)}</p>')


def _changed(blocks: Iterable[TextBlock]) -> str:
    tags = {"removed": "del", "added": "ins"}
    text = " ".join(
        f"<{tags[block.kind]}>{escape(block.text)}</{tags[block.kind]}>"
        if block.kind in tags
        else escape(block.text)
        for block in blocks
    )
    return _AROUND_BREAKS.sub(r"\1", text)


def section(shown: Section, words: bool = False) -> None:
    """Show a section of a report without the heading: its sentence, drawings, tables and remark."""
    sentences(shown.sentence)
    for svg in shown.drawings:
        drawing(svg)
    for drawn in shown.tables:
        table(drawn.caption, drawn.columns, drawn.rows, words or drawn.words)
    if shown.remark:
        quiet(shown.remark)


def folded(sections: Iterable[Section], opened: int = 0, words: bool = False) -> None:
    """Show sections of a report below their headings; all sections after the first `opened` are folded."""
    for number, shown in enumerate(sections):
        with st.expander(shown.heading, expanded=number < opened):
            section(shown, words)


def _marked(segments: Iterable[Segment]) -> str:
    return "".join(
        f"<mark>{escape(part.text)}</mark>" if part.marked else escape(part.text) for part in segments
    )


def _cell(value: object) -> str:
    if isinstance(value, Markup):
        return f"<td>{value}</td>"
    if isinstance(value, BarCell):
        width = 100 * value.part / value.whole if value.whole else 0
        return f'<td><span class="gs-bar"><i style="width:{width:.1f}%"></i></span></td>'
    if isinstance(value, Estimate):
        return f"<td>{_span(value)}</td>"
    if isinstance(value, QueryName):
        return f"<td>{query_link(value, value.query_id, value.document_id)}</td>"
    if isinstance(value, PageLink):
        return f"<td>{page_link(value)}</td>"
    shown = cell_text(value)
    if isinstance(value, GradeCell):
        style = "" if value.grade is None else f' style="--grade: {escape(value.colour)}"'
        return f'<td><span class="gs-graded"{style}>{escape(shown)}</span></td>'
    if isinstance(value, date):
        shown = shown.replace("-", "\u2011")  # a date stays on one line
    return f"<td{_FIGURE if is_figure(value) else ''}>{escape(shown)}</td>"


def _span(estimate: Estimate) -> str:
    """Draw a figure and its interval on a scale from 0 to 1; values outside are drawn at the ends of the
    scale.
    """

    def place(value: float) -> float:
        return 100 * min(1.0, max(0.0, value))

    line = ""
    if estimate.low is not None and estimate.high is not None:
        left = place(estimate.low)
        line = f'<i style="left:{left:.1f}%;width:{place(estimate.high) - left:.1f}%"></i>'
    return f'<span class="gs-span">{line}<b style="left:{place(estimate.value or 0.0):.1f}%"></b></span>'
