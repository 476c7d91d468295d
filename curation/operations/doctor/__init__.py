"""Operations: the examination of a project file and what is around it, restore drills, and the schedule."""
