"""The log: one line each, as text or as JSON."""

from __future__ import annotations

import json
import logging

import pytest

from curation import log


@pytest.fixture
def own_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """The logger as it is in a process of its own."""
    for name in ("handlers", "propagate", "level"):
        monkeypatch.setattr(log.LOG, name, getattr(log.LOG, name))


def test_a_line_of_text_is_one_line_whatever_is_in_it(
    own_log: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(log.FORM, raising=False)
    log.set_up()
    log.write(logging.WARNING, "refused", annotator="a b\nc", status=403, address=None)
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith('WARNING refused [annotator="a b\\nc" status=403]')


def test_json_lines_have_the_fields_and_the_traceback(
    own_log: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(log.FORM, "json")
    log.set_up()
    log.write(logging.ERROR, "failed", error=ValueError("why"), request="1a2b")
    found = json.loads(capsys.readouterr().err)
    assert (found["level"], found["message"], found["request"]) == ("error", "failed", "1a2b")
    assert found["traceback"].endswith("ValueError: why")
