"""Operations of a whole project: jobs, backups, checks, notices and the stages of the project's workflow."""
