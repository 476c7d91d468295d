"""The tags there are: rules find some (`RULE_TAGS`), and only people set the others (`FAILURE_MODES`)."""

from __future__ import annotations

from collections.abc import Iterable

from curation.errors import InputError

RULE_TAGS: tuple[str, ...] = (
    "question",
    "entity",
    "misspelling",
    "temporal",
    "multi-intent",
    "synonym",
    "short",
    "long",
)
FAILURE_MODES: tuple[str, ...] = (
    "single-hop",
    "multi-hop",
    "ambiguous",
    "out-of-domain",
    "adversarial",
    "unanswerable",
)
TAGS = RULE_TAGS + FAILURE_MODES
OF_CORPUS = frozenset({"entity", "misspelling", "synonym"})
"""Tags whose rule reads the corpus."""
KNOWN_TAGS = f"Tags: {', '.join(TAGS)}."


def check_tags(names: Iterable[str]) -> None:
    unknown = [unknown_tag(name) for name in dict.fromkeys(names) if name not in TAGS]
    if unknown:
        raise InputError(unknown, way_out=KNOWN_TAGS)


def unknown_tag(name: str) -> str:
    return f"there is no tag {name!r}"
