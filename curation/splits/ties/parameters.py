"""Parameters: the rules as a stored split has them, and the rules read back from that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.core.similarity.minhash import minhash_parameters
from curation.splits.rules import Rules
from curation.splits.ties.kinds import KINDS


def described(rules: Rules, methods: Mapping[str, str]) -> dict[str, Any]:
    """The rules by the names that a stored split gives them, and how similarity was computed.

    Parameters
    ----------
    methods: label of a kind of tie → how it was searched.
    """
    found: dict[str, Any] = {}
    for kind in sorted(KINDS.values(), key=lambda kind: not kind.is_threshold):
        value = kind.value(rules)
        found[kind.parameter] = list(value) if isinstance(value, tuple) else value
        found |= kind.fixed
    found |= {
        "numbers": rules.numbers,
        "cut": [list(pair) for pair in rules.cut],
        "methods": dict(methods),
    }
    for kind in KINDS.values():
        if kind.is_on(rules):
            found |= kind.when_on(rules)
    minhash = {
        kind.label: minhash_parameters(kind.value(rules))
        for kind in KINDS.values()
        if kind.is_on(rules) and kind.minhashed
    }
    return found | ({"minhash": minhash} if minhash else {})


def rules_of(parameters: Mapping[str, Any]) -> Rules:
    """The rules of a stored split, also of one that is older than some of the kinds."""
    settings = {kind.setting: parameters.get(kind.parameter, kind.if_absent) for kind in KINDS.values()}
    return Rules(
        **settings | {"keys": tuple(settings["keys"])},
        numbers=parameters.get("numbers", "text"),
        model=parameters.get("model", Rules.model),
        cut=tuple((first, second) for first, second in parameters.get("cut", ())),
    )
