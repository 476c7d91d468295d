"""Which documents will be judged for each query: pools with the provenance of every candidate."""

from curation.pooling.candidates import SystemReport
from curation.pooling.pool import PoolReport, build_pool, last_pool
from curation.pooling.systems import SYSTEMS

__all__ = ["SYSTEMS", "PoolReport", "SystemReport", "build_pool", "last_pool"]
