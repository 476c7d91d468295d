"""Conversion of a project's Markdown to safe HTML without images; links open a new browser tab."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def _in_new_tab(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[place].attrs |= {"target": "_blank", "rel": "noopener noreferrer nofollow"}
    return renderer.renderToken(tokens, place, options, env)


_markdown.add_render_rule("link_open", _in_new_tab)


def html_of(text: str) -> str:
    """Convert a Markdown text to safe HTML."""
    return str(_markdown.render(text))
