"""Which queries will be judged: strata of the traffic, allocation, and the seeded draw."""

from curation.sampling.designs import DESIGNS, Stratum
from curation.sampling.frame.bands import BANDS, HEAD, TORSO
from curation.sampling.frame.limits import Limits
from curation.sampling.plan import SamplingPlan, read_quotas
from curation.sampling.sample import SampleReport, draw_sample
from curation.sampling.stored_sample import StoredSample, current_sample
from curation.sampling.strata import DIMENSIONS
from curation.sampling.top_up import top_up
from curation.statistics.weights import ALLOCATIONS

__all__ = [
    "ALLOCATIONS",
    "BANDS",
    "DESIGNS",
    "DIMENSIONS",
    "HEAD",
    "TORSO",
    "Limits",
    "SampleReport",
    "SamplingPlan",
    "StoredSample",
    "Stratum",
    "current_sample",
    "draw_sample",
    "read_quotas",
    "top_up",
]
