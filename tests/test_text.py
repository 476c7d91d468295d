"""Text that stands among other text."""

from curation.text import isolated


def test_an_isolated_text_cannot_end_its_isolate() -> None:
    assert isolated("a\u202eb\u2069c\u2066d") == "\u2068a\u202ebcd\u2069"
