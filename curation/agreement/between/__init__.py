"""Agreement between annotators: coefficients, their parts, and where disagreement comes from."""
