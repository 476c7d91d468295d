"""Search engines that a team runs: asked over HTTP for the lists of runs, and for documents by id.

An engine is a template: the request with places for query and depth, and the paths at which its answer has
ids, scores and fields. The kinds are templates that are shipped as YAML. Address and key are read from the
environment, and are in nothing that is stored or shown.

What an engine answered is kept as it comes, so that a run that broke off is asked for what is missing. A pool
rests on the stored run: engines do not repeat.
"""

RATE = 10.0
"""Requests a second, where nobody says another rate."""
