"""Markdown from documentation sites, as HTML: CommonMark, and what site generators add to it.

The additions are tables, struck text, definition lists, alerts (`> [!NOTE]`), and code between the tags of a
template (`{{< highlight go >}}` of Hugo, `{% highlight ruby %}` of Jekyll), whose lines stay lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from mdit_py_plugins.deflist import deflist_plugin

_START_TAG = re.compile(r"\s*\{(?:\{[<%]|%)-?\s*([\w-]*(?:code|highlight)[\w-]*)\b[^{}]*(?:[>%]\}|%)\}\s*")
_END_TAG = re.compile(r"\s*\{(?:\{[<%]\s*/|%-?\s*end)\s*([\w-]+)\s*-?(?:[>%]\}|%)\}\s*")
"""Patterns of the template tags before and after code, each on its own line."""
_ALERT = re.compile(r"\[!([A-Za-z]+)\][+-]?[ \t]*")
_FENCE = re.compile(r"\s*(?:```|~~~)")


def render_markdown(body: str) -> str:
    """Return a Markdown text as HTML; the result is not safe, because HTML elements in the text are kept."""
    return str(_make_parser().render(_fence_template_code(body) if "{" in body else body))


def _fence_template_code(body: str) -> str:
    """Put a Markdown fence around code between template tags, unless it already has one."""
    lines = body.split("\n")
    end_lines: defaultdict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if end_tag := _END_TAG.fullmatch(line):
            end_lines[end_tag[1]].append(index)
    fenced: list[str] = []
    index = 0
    while index < len(lines):
        fenced.append(lines[index])
        tag = _START_TAG.fullmatch(lines[index])
        ends = end_lines[tag[1]] if tag else []
        following = bisect_right(ends, index)
        index += 1
        if following < len(ends):
            code = lines[index : ends[following]]
            has_fence = any(map(_FENCE.match, code))
            fenced += code if has_fence else ["", "~~~~~~", *code, "~~~~~~", ""]
            index = ends[following]
    return "\n".join(fenced)


def _name_alerts(state: StateCore) -> None:
    """Show an alert's kind as a word in bold, such as "Note", instead of its marker `[!NOTE]`."""
    for index in range(2, len(state.tokens)):
        opening, _, inline = state.tokens[index - 2 : index + 1]
        marker = _ALERT.match(inline.content) if inline.type == "inline" else None
        if opening.type == "blockquote_open" and marker is not None:
            rest = inline.content[marker.end() :].lstrip("\n")
            inline.content = f"**{marker[1].capitalize()}**" + (f"\\\n{rest}" if rest else "")


@cache
def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).use(deflist_plugin)
    parser.core.ruler.before("inline", "alerts", _name_alerts)
    return parser
