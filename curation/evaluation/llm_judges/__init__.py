"""Judges: models and programs whose grades are compared with people's.

A judge's judgment never counts as a vote. The judgments of judges are stored in a separate table. The code
that computes consensus, measures agreement between people or freezes a release never reads this table.
"""
