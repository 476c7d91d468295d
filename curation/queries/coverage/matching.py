"""C(q): the clusters that a query is about, by a rule over the entities that it was matched to.

A query is matched to the entities that it names, and to the nearest in meaning
(`queries.coverage.clusters`). Not all of these are what it asks for, and each that is not makes one more
region look tested. The rule prefers precision: a cluster counts where two of the matched entities or more
are in it; a query without such a cluster has those of the entities that it names. `ALTERNATIVES` are the
rules over which the figures of coverage are shown, as the choice moves them more than a seed does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from curation.queries.coverage.entity_linking import MOST_BY_MEANING, EntityMatch
from curation.queries.coverage.measures import Clusters

LEAST_IN_CLUSTER = "least_in_cluster"
"""The parameter of a map with the rule; maps of before have none, and count every matched entity."""


class MatchingRule(NamedTuple):
    """Which clusters of matched entities a query is about.

    Attributes
    ----------
    nearest: entities by meaning that count, besides those named.
    least: matched entities that a cluster needs.
    by_model: whether what a language model kept counts instead, where it has answered.
    """

    name: str
    nearest: int
    least: int = 1
    by_model: bool = False

    def clusters(self, match: EntityMatch, cluster_of: Sequence[int]) -> Clusters:
        """C(q), where `cluster_of` has the cluster of each entity."""
        if self.by_model and match.kept is not None:
            return frozenset(cluster_of[place] for place in match.kept)
        places = {*match.by_phrase, *match.by_meaning[: self.nearest]}
        held = Counter(cluster_of[place] for place in places)
        enough = frozenset(number for number, entities in held.items() if entities >= self.least)
        return enough or frozenset(cluster_of[place] for place in match.by_phrase)


TWO = MatchingRule("two matched entities or more, else of the named ones", MOST_BY_MEANING, 2)
MODEL = MatchingRule("entities that a language model kept", MOST_BY_MEANING, 2, by_model=True)
EVERY = MatchingRule(f"named entities and the {MOST_BY_MEANING} nearest", MOST_BY_MEANING)
ALTERNATIVES = (
    MatchingRule("named entities", 0),
    TWO,
    MatchingRule("named entities and the 10 nearest", 10),
    EVERY,
)


def rule_of(parameters: Mapping[str, Any]) -> MatchingRule:
    """The rule of a map with these parameters."""
    if "model" in parameters["matching"]:
        return MODEL
    return TWO if LEAST_IN_CLUSTER in parameters["matching"] else EVERY
