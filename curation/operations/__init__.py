"""Running a whole project: jobs, backups, checks, notices and the stages of its workflow."""
