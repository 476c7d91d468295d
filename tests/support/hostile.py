"""Hostile documents: texts of any size, each made to cost whoever reads it more than its length.

A text is a beginning, a piece that is repeated to the wanted size, and an ending. `TEXTS` names them.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

KINDS = ("plain", "code", "html", "markdown")
"""Ways in which a guide draws a text."""


class Hostile(NamedTuple):
    """A text of any size: a beginning, a piece again and again, an ending."""

    beginning: str
    piece: str
    ending: str = ""

    def of(self, size: int) -> str:
        """The text with about so many characters."""
        repeats = (size - len(self.beginning) - len(self.ending)) // len(self.piece)
        return self.beginning + self.piece * max(1, repeats) + self.ending


_OPEN = (
    *(
        "<!--",
        "<!-- -- >",
        "<![CDATA[",
        "<?xml ",
        "<!DOCTYPE ",
        "<script>",
        "<style>",
        "<script ",
        "</script",
    ),
    *(
        "<textarea>",
        "<title>",
        "<template>",
        "<svg>",
        "<math>",
        "<noscript>",
        "<iframe>",
        "<select>",
        "<a",
        "<a ",
    ),
    *(
        "</a",
        "<",
        "</",
        "<a href='",
        '<a title="',
        "<p title=x",
        "&",
        "&#",
        "&#x",
        "&amp",
        "&nbsp",
        "&" + "a" * 31,
    ),
)
_NESTED = (
    *("<div>", "<b>", "<i id=x>", "<font size=1>", "<ul><li>", "<ol>", "<table><tr><td>", "<table>", "<td>"),
    *("<blockquote>", "<dl><dd>", "<p><b id=x>", "<a href=/x>", "<pre>", "<h1>", "<form>", "<span>", "<sup>"),
    *("<b><p>x", "<p>x", "<br>", "<hr>", "<li>x", "<td>x</td>", "<img alt=x>", "<b>x</b> ", "<p>x.</p>"),
)
_MARKS = (
    *(
        "> ",
        ">",
        "- ",
        "* ",
        "1. ",
        "  - ",
        "*",
        "**",
        "_",
        "*a ",
        "**a _b ",
        "*a*",
        "_a",
        "~~",
        "~~a ",
        "`",
        "`a",
    ),
    *(
        "``a` ",
        "[",
        "![",
        "[a](",
        "[a](b",
        "[a](<b",
        "[a][",
        "[a]: ",
        "[a]: b\n",
        "[a]\n",
        "](",
        "](a ",
        '](a "',
        "()",
    ),
    *(
        "# a\n",
        "a\n===\n",
        "a\n---\n",
        "```\n",
        "~~~\n",
        "    a\n",
        "\t",
        "|",
        "|a",
        "|-",
        "|a\n|-\n",
        "a|b\n-|-\n",
    ),
    *(
        "\\",
        "\\*",
        "<http://a",
        "<a@b",
        "http://a.b/",
        "![a](b) ",
        "[a](b) ",
        "a  \n",
        "* * *\n",
        "- a\n\n",
        "> a\n\n",
    ),
    *("&lt;", "&#0;", "<b", "(((", "[[[a", "]]]", "[^1]", "[a]:", '[a]: b "', "\n> - "),
)
_LONG = (
    *(
        "a",
        "a ",
        " ",
        "\n",
        "\t",
        "\n\n",
        "a.",
        "a. ",
        ".",
        "!",
        ". ",
        "a\n",
        "a b c.\n",
        "one two. ",
        "1",
        "1.",
        "_",
    ),
    *(
        "red ",
        "red",
        "red. ",
        "red\n",
        "日",
        "日本語。",
        "日。",
        "。",
        "語 ",
        "電熱",
        "ก",
        "กำ",
        "가",
        "ᄀ",
        "가각 ",
        "ぁゝ",
    ),
    *(
        "é",
        "e\u0301",
        "\u0301",
        "a\u0301\u0301",
        "\u200d",
        "a\u200d",
        "\u00ad",
        "ß",
        "İ",
        "\ufb01",
        "\ufdfa",
        "😀",
    ),
    *(
        "א",
        "שָׁ",
        "ال",
        "हि",
        "क्ष",
        "\u2028",
        "\x85",
        "\xa0",
        "\0",
        "\ufeff",
        "a-",
        "a'",
        "'",
        '"',
        "a+",
        "+",
        "#",
    ),
    *(
        "@",
        "a@b.c ",
        "a@",
        "www.a.b ",
        "http://",
        "0.",
        "1,",
        "A",
        "Ab ",
        "aB",
        "x" * 800 + " ",
        "「",
        "」",
        "(",
        ")",
    ),
)
_AROUND = {
    "": ("", ""),
    "attribute": ('<p title="', '">red'),
    "entity": ("<p>&lt;", "&gt;</p>"),
    "bold": ("<b>", "</b>"),
    "comment": ("<!--", "-->red"),
    "table": ("<table><tr><td>", "</table>"),
    "fence": ("```\n", "\n```\n"),
    "quote": ("> - ", "\nred."),
}


def _texts() -> dict[str, Hostile]:
    found = {repr(piece): Hostile("", piece) for piece in (*_OPEN, *_NESTED, *_MARKS, *_LONG)}
    around = product(
        _AROUND.items(), ("a ", "日", "<!--", "&#x", "*a ", "[", "<b>", "|", "\n", "\u0301", "。", "red ")
    )
    found |= {
        f"{name} {piece!r}": Hostile(*(ends[0], piece, ends[1])) for (name, ends), piece in around if name
    }
    cut = 'x" ', "<p>x", "<td>"
    found |= {
        f"{piece!r} after tags": Hostile("<p>" * 900, piece, "</p>" * 900) for piece in (*cut, "a ", "&lt;")
    }
    return found


TEXTS = _texts()
