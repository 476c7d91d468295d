"""Every benchmark starts: at its smallest size, which its docstring says, in this process."""

from __future__ import annotations

import re
import runpy
import shlex
import sys

import pytest

from tests.support import ROOT

NEEDS = {None, "../shared/data", "Chromium", "the embedding model", "minutes"}
ELSEWHERE = NEEDS - {None, "../shared/data"}
SCRIPTS = {
    path.stem: text
    for path in sorted((ROOT / "benchmarks").glob("*.py"))
    if "\nif __name__ ==" in (text := path.read_text(encoding="utf-8"))
}


LONG = ("bench_evaluate", "bench_load")
"""Seconds at their smallest, for the processes that they start or the collection that they read."""
Printed = pytest.CaptureFixture[str]


def _said(name: str, word: str) -> str | None:
    """The rest of the line of a script's docstring that starts with a word."""
    found = re.findall(rf"^{word}: (.+)$", SCRIPTS[name].split('"""')[1], re.MULTILINE)
    assert len(found) < 2, f"benchmarks/{name}.py: one line `{word}:` is expected, found {len(found)}"
    return found[0] if found else None


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SCRIPTS.keys() - set(LONG)))
def test_a_benchmark_starts_at_its_smallest_size(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    starts(name, monkeypatch, capsys)


@pytest.mark.costly("whole benchmarks at their smallest size")
@pytest.mark.parametrize("name", LONG)
def test_a_long_benchmark_starts_at_its_smallest_size(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    starts(name, monkeypatch, capsys)


def starts(name: str, monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    smallest, needs = _said(name, "Smallest"), _said(name, "Needs")
    assert smallest, f"benchmarks/{name}.py needs a line `Smallest: python -m benchmarks.{name} …`"
    assert needs in NEEDS, f"benchmarks/{name}.py: `Needs: {needs}` is none of {NEEDS}"
    python, option, module, *arguments = shlex.split(smallest)
    assert (python, option, module) == ("python", "-m", f"benchmarks.{name}")
    if needs in ELSEWHERE:
        arguments = ["--help"]
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)  # another one may have imported it
    ended = _started(name)
    if ended and needs == "../shared/data" and not (ROOT.parent / "shared" / "data").is_dir():
        assert ended.startswith("the shared data is not at")
        return
    assert not ended
    printed = capsys.readouterr().out
    assert printed.startswith("usage:") if needs in ELSEWHERE else len(printed) > 20


def _started(name: str) -> str:
    """Run a script to its end; what it exits with, empty if that is success."""
    try:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    except SystemExit as ended:
        return str(ended.code or "")
    return ""
