"""Figures over queries: means with intervals, strata, and estimates for the traffic."""
