"""Moving untouched work between annotators: reassignment and extension."""
