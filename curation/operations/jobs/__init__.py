"""Jobs: long work that people start in the app, each job in its own process.

A job runs an operation (`curation.operations.registry`) by the same function as the command line. A job runs
in a separate process (`operations.jobs.worker`), so that the grading of other people does not become slow.
The project stores the request and the ending of a job (`operations.jobs.stored`). The process that serves the
project keeps the progress of a job in memory (`operations.jobs.running`), the same for all visitors.

Jobs form a chain: a request names the last job that its author saw, and the id of the new job is made from
the id of this last job. So a request that is sent twice by an impatient click makes one job.

Two jobs may run at the same time, so that short work, such as an export, does not wait for long work, such as
the embedding of documents. Two jobs do not run at the same time if one changes data that the other reads or
changes (`operations.registry.has_clash`).
"""

from curation.operations.jobs.running import Jobs, find_problem, jobs_of
from curation.operations.jobs.stored import Job, can_stop, read_last_job, read_last_jobs

__all__ = ["Job", "Jobs", "can_stop", "find_problem", "jobs_of", "read_last_job", "read_last_jobs"]
