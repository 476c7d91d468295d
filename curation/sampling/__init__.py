"""Which queries will be judged: frequency bands of traffic, allocation, and the seeded draw."""

from curation.sampling.bands import BANDS, HEAD, TORSO
from curation.sampling.sample import SampleReport, Stratum, draw_sample

__all__ = ["BANDS", "HEAD", "TORSO", "SampleReport", "Stratum", "draw_sample"]
