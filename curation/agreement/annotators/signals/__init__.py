"""Annotator signals: what in somebody's work is worth a conversation, each with its test and its figures.

A signal accuses nobody. It is a record of a name, what it looks at, what it needs, and a function that gives
its p value with a sentence and the evidence (`signal.Signal`). `registry` lists all of them.

All signals have one error control. Looking at ten things would raise ten times as many false findings, so all
looks that are read together are tested together by the rule of Benjamini and Hochberg. For feedback these
are all looks at one person, at `FALSE_SHARE`; for early warnings all looks at the people of one round, at
`FALSE_ROUNDS`.

Some of them ask similar questions, and stay apart:

- `change` finds a share of repeats that fell (or rose) and stays there, `control chart` a bad stretch that
  ended again. Each is nearly blind to what the other finds (docs/agreement-method.md). Where both find
  something, only the change is raised.
- `agreement` asks whether grades follow the others' at all, `one grade` whether they vary, `bias` whether
  they are higher or lower. Where `one grade` finds something, `agreement` is not raised.
- `speed` asks whether answers came too quickly to have read the text; it needs times and no grades. `pace`
  asks whether quick answers of one person are wrong more often; it needs grades to compare with, and an
  annotator who is fast and right raises nothing.
"""
