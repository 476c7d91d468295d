"""Evaluation: what systems reach on a release, with the size, the interval and the holes of each figure.

The room reads releases and run files of the project alone. `scoring` makes a run the values of queries;
figures and comparisons are made of these alone, which `report` shows. No value of a single query of a sealed
part leaves `evaluate_runs`.
"""
