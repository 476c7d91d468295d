"""The workflow of a project from its first import to re-labeling: the state of each stage, and the next one.

The project stores no stages. `project_workflow` makes them from the data of other packages, in two steps:
facts that are quick to read, and slow figures (the gate, the re-labeling that is due), which a caller may add
later.
"""
