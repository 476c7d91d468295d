"""Parameters: what a split was asked for, as it is stored, and the rules read back from that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.splits.edges import NEAR_DUPLICATE, QUERY_TEXT, compared_exactly
from curation.splits.rules import DECIMALS, Rules
from curation.splits.similarity import CHARACTERS, WORDS, minhash_parameters


def described(rules: Rules, methods: Mapping[str, str], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The rules by the names that a stored split gives them, and how similarity was computed.

    Parameters
    ----------
    methods: kind of tie → how it was searched.
    sizes: kind of tie → number of texts that were compared.
    """
    thresholds = {QUERY_TEXT: rules.query, NEAR_DUPLICATE: rules.document}
    minhash = {
        kind: minhash_parameters(threshold)
        for kind, threshold in thresholds.items()
        if threshold is not None and not compared_exactly(sizes[kind])
    }
    found: dict[str, Any] = {
        "query_threshold": rules.query,
        "query_shingles": f"{CHARACTERS} characters",
        "paraphrase_threshold": rules.paraphrase,
        "document_threshold": rules.document,
        "document_shingles": f"{WORDS} words",
        "shared_documents": rules.shared,
        "keys": list(rules.keys),
        "time_block": rules.time_block,
        "numbers": rules.numbers,
        "cut": [list(pair) for pair in rules.cut],
        "methods": dict(methods),
    }
    if rules.paraphrase is not None:
        found |= {"model": rules.model, "cosine_decimals": DECIMALS}
    return found | ({"minhash": minhash} if minhash else {})


def rules_of(parameters: Mapping[str, Any]) -> Rules:
    """The rules of a stored split, also of one that was made when there were fewer of them."""
    return Rules(
        query=parameters["query_threshold"],
        paraphrase=parameters.get("paraphrase_threshold"),
        document=parameters["document_threshold"],
        shared=parameters.get("shared_documents", True),
        keys=tuple(parameters.get("keys", ())),
        time_block=parameters.get("time_block"),
        numbers=parameters.get("numbers", "text"),
        model=parameters.get("model", Rules.model),
        cut=tuple((first, second) for first, second in parameters.get("cut", ())),
    )
