"""JSON: its texts within bounds, its records, the forms that hold several in one, and paths into them."""
