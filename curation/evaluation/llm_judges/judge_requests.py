"""The request by which a lead asks a language model to grade pairs."""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.request import Seed, option


@dataclass(frozen=True)
class JudgeRequest:
    """A request for a language model's grades, by default for all pairs in the pool.

    Attributes
    ----------
    again: share of the pairs that the model is asked about twice, to check its consistency.
    instructions: further instructions of the project, which are a part of the prompt.
    """

    name: str = option("", "Name of the judge", "Name of the judge.")
    model: str | None = option(
        None, "Model", "Name of the model at the endpoint.", unset="GOLDGRADE_LLM_MODEL"
    )
    release: str | None = option(None, "Pairs of the release", "Grade a release's pairs.", unset="the pool")
    round: str | None = option(None, "Pairs of the round", "Grade the pairs of a round.", unset="the pool")
    again: float = option(
        0.08,
        "Share of pairs sent twice",
        "Share of pairs that are sent twice, 0 to 0.5.",
        flag="--twice",
        minimum=0,
        maximum=0.5,
    )
    calls: int | None = option(
        None, "Maximum number of requests", "Maximum number of requests to send.", minimum=1, unset="all"
    )
    rate: float | None = option(
        None,
        "Maximum number of requests per second",
        "Maximum number of requests per second.",
        minimum=0.01,
        unset="any",
    )
    parallel: int = option(
        4, "Number of calls at the same time", "Number of calls sent at the same time.", minimum=1, maximum=64
    )
    seed: Seed = 0
    instructions: str = ""
