"""Conversion of a project's Markdown to safe HTML."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def _open_in_new_tab(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[index].attrs |= {"target": "_blank", "rel": "noopener noreferrer nofollow"}
    return renderer.renderToken(tokens, index, options, env)


_markdown.add_render_rule("link_open", _open_in_new_tab)


def markdown_to_html(text: str) -> str:
    """Convert a Markdown text to safe HTML without images; links open a new browser tab."""
    return str(_markdown.render(text))
