"""One annotator: consistency on repeats, bias against the others, drift, pace, and what to discuss."""
