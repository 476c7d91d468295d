"""Content words: what lexical retrieval counts.

The stop words are the words of asking and joining (articles, pronouns, auxiliaries, prepositions,
question words), and those only. Left in on purpose: negations (`not`, `without`), because they turn a
query round; numbers and single letters, because `5` and `c` name products and languages; and words that
are merely frequent, because BM25 weighs those down itself.
"""

from __future__ import annotations

from curation.text import words

STOP_WORDS = frozenset(
    "a an the this that these those "
    "i me my we us our you your he him his she her it its they them their "
    "am is are was were be been being do does did doing have has had having "
    "can could will would shall should may might must "
    "and or but if then than so as of at by for from in into on onto to with about "
    "what which who whom whose when where why how there here".split()
)


def content_words(text: str) -> list[str]:
    """The text's words, in order, without stop words."""
    return [word for word in words(text) if word not in STOP_WORDS]
