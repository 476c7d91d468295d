"""Which queries will be judged: strata of the traffic, allocation, and the seeded draw."""

from curation.sampling.bands import BANDS, HEAD, TORSO
from curation.sampling.designs import DESIGNS, Stratum
from curation.sampling.frame import Limits
from curation.sampling.plan import Plan, read_quotas
from curation.sampling.sample import SampleReport, draw_sample
from curation.sampling.stored import StoredSample, current_sample
from curation.sampling.strata import DIMENSIONS
from curation.sampling.top_up import top_up
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
    "StoredSample",
    "Stratum",
    "current_sample",
    "draw_sample",
    "read_quotas",
    "top_up",
]
