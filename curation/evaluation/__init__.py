"""Evaluation: what systems reach on a release, with the size, the interval and the holes of each figure.

The room reads releases and run files, and nothing else of the project. A run becomes a ranking in the order
of trec_eval (`metrics.rankings`), ir-measures scores it query by query (`metrics.scores`), and figures are
made of these scores alone (`figures`), which `report` shows. Of a sealed part no value of a single query
leaves `evaluate`.
"""
