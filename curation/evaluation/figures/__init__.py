"""Figures over queries: means with intervals, of all and of each kind, and estimates for the traffic."""
