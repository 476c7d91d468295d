"""The sections of a report, one a module; each is left out where its evaluation has nothing for it."""
