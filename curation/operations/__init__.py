"""Operations: jobs, backups, the doctor, the workflow on Home, notices, the demo."""
