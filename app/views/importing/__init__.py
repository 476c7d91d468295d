"""The page Import: choose what, give a file, look at it, rehearse, import."""
