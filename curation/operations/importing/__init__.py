"""The import of each kind of file, of collections, and rehearsals: what is called, and what came of it."""
