"""Trials of the whole: what may go wrong around goldgrade, many times over, and what must hold all the same.

Anyone can run trials: `python -m tests.trials kills=500 torn=300 --seed 1`. Each prints one JSON line with
its counts and a sentence, and the status is 1 where the rule of its docstring was broken.
`docs/performance.md` has the counts of long runs; `test_trials.py` runs a short one of each.
"""
