"""Parquet: its rows within bounds, and values of any type as Python has them."""
