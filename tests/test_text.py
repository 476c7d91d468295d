"""Text that stands among other text."""

from curation.text import isolated, printable


def test_an_isolated_text_cannot_end_its_isolate() -> None:
    assert isolated("a\u202eb\u2069c\u2066d") == "\u2068a\u202ebcd\u2069"


def test_no_text_commands_a_terminal() -> None:
    sent = "\x1b]0;title\x07 \x9b2J red\x7f\rover ünd\tso\nweiter"
    assert printable(sent) == "␛]0;title␇ \ufffd2J red␡␍over ünd\tso\nweiter"
