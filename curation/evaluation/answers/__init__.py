"""The evaluation of systems' answers to queries."""
