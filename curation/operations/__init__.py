"""Operations: backups, restoring them, and the examination of a project file and what is around it."""
