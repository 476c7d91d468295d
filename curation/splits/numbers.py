"""Numbers and model names in queries: what tells "iphone 14 case" from "iphone 13 case".

Three kinds of words are names:

- words with a digit: 14, 5d, 13.3, d40. Of two letters or more before the digits only the digits are the
  name ('iphone14' and 'iphone 14' both name 14), and units after them say nothing ('32gb' and '32 gb' both
  name 32);
- Roman numerals from ii to xx after another word ('iphone x', not the x of '10 x 20' or 'x-files'); they name
  what digits do ('mark ii', 'mark 2');
- pro, max, mini, ultra, lite, nano, se after another word ('ipad mini', not 'mini fridge').

Of the latter two v, air, plus and slim count only after digits or at the end ('iphone 8 plus case', 'macbook
air', not 'womens plus size dress').

Two queries that name different ones need not be about different things ('iphone', 'iphone 7'): the rule
`apart` assumes that they are. Of 2,546 real queries (Icecat, ESCI, Excite) 113 name something; of these a
handful are none ('adult x rated', addresses of web pages).
"""

from __future__ import annotations

import re

from curation.core.text import normalise_query
from curation.splits.rules import Numbers

ROMAN = {
    numeral: str(value)
    for value, numeral in enumerate(
        "ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split(), start=2
    )
}
EDITIONS = frozenset("pro max mini plus ultra lite nano slim se air".split())
UNSURE = frozenset({"v", "air", "plus", "slim"})
NAMES = frozenset(ROMAN) | EDITIONS
UNITS = """
    gb tb mb kb mm cm km inch inches in ft oz lb lbs kg mg ml mah mp hz khz mhz ghz kw watt volt px pack pcs
    st nd rd th
""".split()

_WORD = re.compile(r"[^\W_]+(?:[.,/]\d+)*")
_DIGITS = re.compile(rf"(?P<before>[^\W\d_]{{2,}})?(?P<name>.*?\d.*?)(?:{'|'.join(UNITS)})?")


def names(text: str) -> frozenset[str]:
    """The numbers and model names of a query."""
    return frozenset(name for name, _, _ in _names(normalise_query(text)))


def compared_text(text: str, numbers: Numbers) -> str:
    """What is compared of a query: with 'tie' its normalised text without numbers and model names.

    A query of names only is compared as it is: without them nothing would be left.
    """
    if numbers != "tie":
        return text
    normal = normalise_query(text)
    kept, at = "", 0
    for _, start, end in _names(normal):
        kept += normal[at:start]
        at = end
    return " ".join((kept + normal[at:]).split()) or text


def _names(normal: str) -> list[tuple[str, int, int]]:
    """Each name, and where it starts and ends in the normalised text."""
    words = list(_WORD.finditer(normal))
    found = []
    for place, word in enumerate(words):
        text = word.group()
        digits = _DIGITS.fullmatch(text)
        if digits:
            found.append((digits["name"].replace(",", "."), word.start() + digits.start("name"), word.end()))
        elif place and text in NAMES and _is_separate(normal, word) and _is_meant(words, place):
            found.append((ROMAN.get(text, text), word.start(), word.end()))
    return found


def _is_separate(normal: str, word: re.Match[str]) -> bool:
    around = (normal[max(0, word.start() - 1) : word.start()], normal[word.end() : word.end() + 1])
    return "-" not in around and "'" not in around


def _is_meant(words: list[re.Match[str]], place: int) -> bool:
    """Whether such a word is a name here, and no sign or everyday word."""
    text, is_last = words[place].group(), place == len(words) - 1
    after_digits = words[place - 1].group()[0].isdigit()
    if text == "x":
        return is_last or not (after_digits and words[place + 1].group()[0].isdigit())
    return text not in UNSURE or is_last or after_digits
