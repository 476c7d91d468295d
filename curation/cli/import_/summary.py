"""The sentences that end every import: the fields used, and what was left out or replaced."""

from __future__ import annotations

from collections.abc import Sequence

from curation.cli.output import left_out, say


def say_fields(used: Sequence[tuple[str, str | None]], rest: str = "") -> None:
    """Name the fields that were read; `rest` says what became of the others."""
    names = ", ".join(f"{what} {name}" for what, name in used if name is not None)
    say(f"Fields used: {names}; {rest}." if rest else f"Fields used: {names}.")


def say_rest(reasons: dict[str, int], replaced: dict[str, int], what: str) -> None:
    """Count what was left out and which broken characters were replaced."""
    left_out(reasons, what)
    for kind, count in replaced.items():
        say(f"replaced: {count:,} × {kind}, by U+FFFD")
