"""The page Guide: read it, write the next one, put it in force, its versions, and questions about it."""
