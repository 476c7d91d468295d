"""One annotator: consistency on repeats, bias beside the others, drift, pace, and what to discuss."""
