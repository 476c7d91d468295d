"""The workflow of a project, from its first import to re-labeling: the state of each stage, and what is next.

Nothing is stored about stages. Each is read from what the other rooms store, in two parts: counts, which are
quick, and figures (the gate, what is due), which a caller may bring from memory or leave out at first.
"""
