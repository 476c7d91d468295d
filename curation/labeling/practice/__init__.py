"""Practice: known pairs before the first round, with explanations and a pass mark."""
