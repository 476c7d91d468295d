"""Write docs/commands.md from the commands' own help; tests/test_command_line.py keeps the two alike.

Usage: python -m docs.make_commands
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer

from curation.cli import add_commands
from curation.cli.program import STEPS, app

TARGET = Path(__file__).with_name("commands.md")

HEAD = """# Commands

Written from the commands' own help by `make docs`; do not edit by hand.

`goldgrade --project PATH COMMAND …` works on one project, by default `$GOLDGRADE_PROJECT`, else
`data/goldgrade.duckdb`. Exit status: 0 done, 1 refused or failed with a sentence on standard error, 2 usage,
143 ended by SIGTERM. Every command works while the app is serving. `--as NAME` names the person who runs
the command, `--reason WHY` gives the reason, and `--json` prints the result as one JSON object. The
following options mean the same in all commands, and are not repeated below:

"""

EVERYWHERE = 4
"""An option that so many commands have with the same help is described once, before the commands."""
EXAMPLES = 2
"""Examples of a command that are shown; its --help has all."""


@cache
def commands() -> tuple[tuple[str, Any], ...]:
    """(full name, command) of every command and group, in the order of --help."""
    add_commands()
    return tuple(_walk("goldgrade", typer.main.get_command(app)))


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for child in getattr(command, "commands", {}).values():
        yield from _walk(f"{name} {child.name}", child)


def page() -> str:
    """The whole text of docs/commands.md."""
    steps = [_step(title, names) for title, names in STEPS.items()]
    common = [f"- {shown}: {help}\n" for shown, help in sorted(_common())]
    return HEAD + "".join(common) + _contents() + "".join(steps)


@cache
def _common() -> frozenset[tuple[str, str]]:
    """Options (how they are spelled, and their help) that many commands have."""
    counts = Counter(
        _told(parameter)
        for _, command in commands()
        for parameter in command.params
        if parameter.param_type_name == "option" and not _only_a_group(command)
    )
    return frozenset(told for told, number in counts.items() if number >= EVERYWHERE)


def _contents() -> str:
    lines = ["| step | commands |\n|---|---|\n"]
    for title, names in STEPS.items():
        runnable = [name for name, command in _of_step(names) if not _only_a_group(command)]
        links = [f"[{name.removeprefix('goldgrade ')}](#{name.replace(' ', '-')})" for name in runnable]
        lines.append(f"| {title} | {' · '.join(links)} |\n")
    return "\n" + "".join(lines)


def _step(title: str, names: list[str]) -> str:
    return f"\n## {title}\n" + "".join(_section(name, command) for name, command in _of_step(names))


def _of_step(names: list[str]) -> list[tuple[str, Any]]:
    """The named commands and groups, each group followed by its commands."""
    return [item for name in names for item in commands() if item[0].split()[1:2] == [name]]


def _only_a_group(command: Any) -> bool:
    return hasattr(command, "commands") and not command.invoke_without_command


def _section(name: str, command: Any) -> str:
    text, _, examples = (command.help or "").replace("\b\n", "").partition("Examples:")
    if _only_a_group(command):
        return f"\n### {name}\n\n{text.strip()}\n"
    level = "###" if name.count(" ") == 1 else "####"
    parts = [f"\n{level} {name}\n\n{_flow(text)}\n"]
    own = [parameter for parameter in command.params if _told(parameter) not in _common()]
    lines = [_parameter(parameter) for parameter in own]
    if lines:
        parts.append("\n" + "\n".join(lines) + "\n")
    if examples.strip():
        lines = [line.strip() for line in examples.strip().splitlines()]
        block = "\n".join(_first_examples(lines))
        parts.append(f"\n```\n{block}\n```\n")
    return "".join(parts)


def _flow(text: str) -> str:
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]
    return "\n\n".join(paragraphs)


def _first_examples(lines: list[str]) -> list[str]:
    """The first examples, each with the lines that a backslash continues."""
    starts = [index for index, line in enumerate(lines) if not index or not lines[index - 1].endswith("\\")]
    return lines[: [*starts, len(lines), len(lines)][min(EXAMPLES, len(starts))]]


def _told(parameter: Any) -> tuple[str, str]:
    """How an option is spelled, and its help."""
    spelled = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
    return spelled, " ".join((getattr(parameter, "help", "") or "").split())


def _parameter(parameter: Any) -> str:
    shown = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        shown = f"`{(parameter.metavar or parameter.name).upper()}`"
    default = parameter.default
    unset = default is None or default is False or default in ((), "")
    note = "" if unset else f" Default: `{default}`."
    if parameter.required and parameter.param_type_name == "option":
        note = " Required."
    return f"- {shown}: {(parameter.help or '').strip()}{note}"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    print(f"wrote {TARGET}")
