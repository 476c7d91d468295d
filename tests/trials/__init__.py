"""Trials of the whole: what may go wrong around goldgrade, many times over, and what must hold all the same.

Each module is one trial, and anyone can run it: `python -m tests.trials.kills --times 500 --seed 1`, or
several of them: `python -m tests.trials kills=500 torn=300 --seed 1`. Each prints one JSON line with its
counts and a sentence, and the status is 1 where the rule of its docstring was broken. `docs/reliability.md`
has the counts of long runs; `test_trials.py` runs a short one of each.
"""
