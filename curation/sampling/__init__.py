"""Which queries will be judged: strata of the traffic, allocation, and the seeded draw."""

from curation.sampling.bands import BANDS, HEAD, TORSO
from curation.sampling.designs import DESIGNS, Stratum
from curation.sampling.frame import Limits
from curation.sampling.sample import Plan, SampleReport, draw_sample
from curation.sampling.strata import DIMENSIONS
from curation.sampling.weights import ALLOCATIONS

__all__ = [
    "ALLOCATIONS",
    "BANDS",
    "DESIGNS",
    "DIMENSIONS",
    "HEAD",
    "TORSO",
    "Limits",
    "Plan",
    "SampleReport",
    "Stratum",
    "draw_sample",
]
