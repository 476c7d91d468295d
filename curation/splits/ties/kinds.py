"""The kinds of tie in their order, and what is wrong with rules."""

from __future__ import annotations

from typing import get_args

from curation.core.operation import out_of_bounds
from curation.splits.rules import Numbers, Rules
from curation.splits.ties.kind import TieKind
from curation.splits.ties.near_duplicate_document import TIE as NEAR_DUPLICATE
from curation.splits.ties.paraphrase import TIE as PARAPHRASE
from curation.splits.ties.query_text import TIE as QUERY_TEXT
from curation.splits.ties.same_key import TIE as SAME_KEY
from curation.splits.ties.shared_document import TIE as SHARED_DOCUMENT

KINDS: dict[str, TieKind] = {
    kind.label: kind for kind in (QUERY_TEXT, PARAPHRASE, SHARED_DOCUMENT, NEAR_DUPLICATE, SAME_KEY)
}
"""Label → kind, in the order of tables and of stored counts."""


def problems(rules: Rules) -> list[str]:
    """What is wrong with the rules, a sentence each; none when they are fine."""
    found = out_of_bounds(Rules, vars(rules))
    if rules.numbers not in get_args(Numbers):
        found.append(
            f"There is no rule of numbers {rules.numbers!r}; expected one of {', '.join(get_args(Numbers))}"
        )
    found += [
        f"Cut {first}~{second}: a query is not tied to itself; expected two query ids"
        for first, second in rules.cut
        if first == second
    ]
    if not any(kind.is_on(rules) for kind in KINDS.values()):
        found.append("every kind of tie is switched off; expected at least one, or nothing is kept together")
    return found
