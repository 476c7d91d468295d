"""What went or is called otherwise is answered with a sentence, and nothing that there is is refused so."""

from __future__ import annotations

import pytest

from curation.cli.renamed import RENAMED, explain_renamed
from docs import make_commands
from tests.support.command_line import invoke

NAMES = {name.removeprefix("goldgrade").strip(): command for name, command in make_commands.commands()}


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("leakage sweep --json", "leakage"),
        ("--project x.duckdb coverage effects v1 --run a", "coverage effects"),
        ("evaluate v1 --run a.trec --table=x.csv", "evaluate --table"),
        ("card v1 --help", "card"),
    ],
)
def test_what_is_called_otherwise_is_answered_on_standard_error_with_exit_2(line: str, key: str) -> None:
    done = invoke(line.split())
    sentence = f"goldgrade: `goldgrade {key}` is `goldgrade {RENAMED[key]}` now.\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", sentence)


def test_each_option_that_is_called_otherwise_has_its_sentence() -> None:
    assert len(explain_renamed(["evaluate", "v1", "--html", "--summary", "md=a", "--query-field", "q"])) == 3


@pytest.mark.parametrize("line", ["agreement --breakdown pair", "import corpus -- --html", "sweep leakage"])
def test_what_there_is_gets_no_such_sentence(line: str) -> None:
    assert explain_renamed(line.split()) == []


def test_old_words_are_no_command_or_option_and_new_words_are() -> None:
    options = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in NAMES.items()
    }
    there = set(options) | {f"{name} {option}" for name in options for option in options[name]}
    assert there.isdisjoint(RENAMED)
    for now in RENAMED.values():
        name = max((name for name in options if f"{now} ".startswith(f"{name} ")), key=len, default="")
        assert name or now.startswith("--as")
        assert {word for word in now.split() if word.startswith("--")} <= options[name] | {"--reason", "--as"}
