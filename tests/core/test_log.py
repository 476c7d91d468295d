"""The log: one line each, as text or as JSON."""

from __future__ import annotations

import json
import logging
import re

import pytest

from curation.core import log
from curation.core.errors import InputError, refuse_problems


@pytest.fixture
def own_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """The logger as it is in a process of its own."""
    for name in ("handlers", "propagate", "level"):
        monkeypatch.setattr(log.LOG, name, getattr(log.LOG, name))


def test_a_line_of_text_is_one_line_whatever_is_in_it(
    own_log: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(log.FORM, raising=False)
    log.configure()
    log.write(logging.WARNING, "refused", annotator="a b\nc", status=403, address=None)
    log.write(logging.WARNING, "nothing at /a\n2026 ERROR\u2028forged\x1b[2J")
    line, other = capsys.readouterr().err.splitlines()
    assert line.endswith('WARNING refused [annotator="a b\\nc" status=403]')
    assert other.endswith("WARNING nothing at /a 2026 ERROR forged␛[2J")


def test_signs_that_turn_the_direction_are_seen(
    own_log: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for form in ("text", "json"):
        monkeypatch.setenv(log.FORM, form)
        log.configure()
        log.write(logging.WARNING, "ann\u202e\u200b", path="/\u2066a")
        line = capsys.readouterr().err
        assert line.strip().isprintable()
        assert r"ann\u202e\u200b" in line


def test_the_log_gets_neither_grades_nor_words() -> None:
    assert log.remove_content("grade 7 is not on the guide's scale (0, 1)") == (
        "grade … is not on the guide's scale (…, …)"
    )
    assert log.remove_content("nobody wrote “my illness” or 'its'") == "nobody wrote … or …"
    with pytest.raises(InputError) as raised:
        refuse_problems(["my illness"])
    assert re.fullmatch(r"InputError at errors\.py:\d+", log.describe_origin(raised.value))


def test_json_lines_have_the_fields_and_the_traceback(
    own_log: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(log.FORM, "json")
    log.configure()
    log.write(logging.ERROR, "failed", error=ValueError("why"), request="1a2b")
    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["message"], line["request"]) == ("error", "failed", "1a2b")
    assert line["traceback"].endswith("ValueError: why")
