"""The rules for ties in the form of a stored split's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.core.similarity.minhash import minhash_parameters
from curation.splits.rules import Rules
from curation.splits.ties import KINDS


def write_rules(rules: Rules, methods: Mapping[str, str]) -> dict[str, Any]:
    """Write the rules for ties, and how similarity was computed, as parameters of a stored split.

    Parameters
    ----------
    methods: label of a kind of tie → how the kind was searched.
    """
    parameters: dict[str, Any] = {}
    for kind in sorted(KINDS.values(), key=lambda kind: not kind.is_threshold):
        value = kind.read_setting(rules)
        parameters[kind.parameter] = list(value) if isinstance(value, tuple) else value
        parameters |= kind.fixed_parameters
    parameters |= {
        "numbers": "text",  # older goldgrades also had other rules
        "cut": [list(pair) for pair in rules.cut],
        "methods": dict(methods),
    }
    active_kinds = [kind for kind in KINDS.values() if kind.is_on(rules)]
    for kind in active_kinds:
        parameters |= kind.make_parameters(rules)
    minhash = {
        kind.label: minhash_parameters(kind.read_setting(rules)) for kind in active_kinds if kind.uses_minhash
    }
    return parameters | ({"minhash": minhash} if minhash else {})


def read_rules(parameters: Mapping[str, Any]) -> Rules:
    """Read a stored split's rules for ties; a kind of tie that is newer than the split gets its value
    `if_absent`."""
    settings = {kind.setting: parameters.get(kind.parameter, kind.if_absent) for kind in KINDS.values()}
    return Rules(
        **settings | {"keys": tuple(settings["keys"])},
        model=parameters.get("model", Rules.model),
        cut=tuple((first, second) for first, second in parameters.get("cut", ())),
    )
