"""Long work that the app is asked for: jobs, each in a process of its own.

A job does an operation (`curation.operations.registry`), by the function that the command line calls, too.
It runs in a process of its own (`operations.jobs.worker`), so that people who grade do not wait for the
interpreter; the file is taken in turns anyhow. What was asked for and how it ended are stored
(`operations.jobs.stored`). How far it is lives in the memory of the process that serves the project
(`operations.jobs.running`), and is the same for all visitors.

Jobs form a chain: each is asked for after the one that its asker saw last, and its id is made from that
one's. So the same request, sent twice by an impatient click, makes one job.

Two run at once, so that work of seconds does not wait for work of many minutes: an export while documents are
embedded. Two jobs do not run at once where one changes what the other reads or changes
(`operations.registry.clash`).
"""

from curation.operations.jobs.running import Jobs, jobs_of, problem
from curation.operations.jobs.stored import Job, last_job, last_jobs, may_stop

__all__ = ["Job", "Jobs", "jobs_of", "last_job", "last_jobs", "may_stop", "problem"]
