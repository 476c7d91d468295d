"""What a draw and a top-up are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from curation.core.operation import DEFAULT_MODEL, Needs, Option, Seed, option
from curation.core.statistics.weights import ALLOCATIONS
from curation.queries.sampling.frame.limits import HEAD, TORSO, Limits

DESIGNS = ("stratified", "pps")
_BANDS = Needs("only strata by band have a head and a torso", lambda draw: "band" in draw["strata"])


@dataclass(frozen=True)
class SamplingPlan:
    """How to draw; see `queries.sampling.strata`, `queries.sampling.designs` and `core.statistics.weights`
    for the words.

    Attributes
    ----------
    strata: the dimensions that are crossed.
    allocation: None is 'equal', and all that pps can have.
    quotas: stratum → exact number, under any allocation.
    from_release, run: what the allocation neyman learns from.
    """

    strata: Sequence[str] = option(
        ("band",),
        "Kinds of queries",
        "Strata: the sample has its share of each. The dimensions are crossed. They are band, segment, "
        "length, cluster, tag:NAME and field:NAME, which is a further field of the log. A cluster is "
        "a region of the coverage map.",
        commas=True,
        others=True,
    )
    design: str = option(
        "stratified", "Design", "Stratified, or pps: probability proportional to traffic.", choices=DESIGNS
    )
    allocation: str | None = option(
        None,
        "How many of each kind",
        "Rule for the shares of the strata. It is equal, proportional (to traffic), square-root (of "
        "traffic), or neyman (by the variance in a release). pps takes equal only.",
        choices=(None, *ALLOCATIONS[1:]),
        unset="equal",
    )
    quotas: Annotated[
        Mapping[str, int],
        Option(
            "Quotas: an exact number from a stratum",
            "STRATUM=N or STRATUM=N%: so many from this stratum. N% is a share of the size. The "
            "others share the rest. Repeatable.",
            flag="--quota",
        ),
    ] = field(default_factory=dict)
    head: float = option(
        HEAD,
        "Head up to",
        "The most asked queries, up to this share of the traffic. From 2 on it is a number of queries.",
        unset="a third",
        needs=_BANDS,
        least=0,
        by=0.05,
    )
    torso: float = option(
        TORSO,
        "Torso up to",
        "The torso goes from there up to this share or number. The rest is tail.",
        unset="two thirds",
        needs=_BANDS,
        least=0,
        by=0.05,
    )
    from_release: str | None = option(
        None,
        "Release that Neyman allocation learns from",
        "Release that neyman learns the variance from.",
        flag="--release",
    )
    run: str | None = option(
        None,
        "Run whose nDCG@10 varies there",
        "Imported run whose nDCG@10 neyman measures there. Without one it is the share of judged "
        "candidates that are relevant.",
        flag="--imported-run",
        needs=Needs("neyman learns from a release; name it", lambda draw: draw["from_release"] is not None),
    )


@dataclass(frozen=True)
class DrawRequest:
    """A sample of the traffic."""

    size: int = option(200, "Queries to draw", "Number of distinct queries to draw.", least=1, by=10)
    seed: Seed = 0
    plan: SamplingPlan = field(default_factory=SamplingPlan)
    limits: Limits = field(default_factory=Limits)
    model: str = option(
        DEFAULT_MODEL,
        "Embedding model of the coverage map",
        "Embedding model of the coverage map. A name or a folder.",
        needs=Needs(
            "only strata by cluster use a model",
            lambda draw: "cluster" in draw["strata"],
        ),
    )


@dataclass(frozen=True)
class TopUpRequest:
    """More queries for the current sample."""

    size: int | None = option(
        None,
        "Queries in the whole sample",
        "What the quotas leave of it goes to the strata without one.",
        least=1,
    )
    quotas: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class TagsRequest:
    """Tags by rule for the queries in force; nothing is to be chosen."""
