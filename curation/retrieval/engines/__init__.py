"""The team's search engines, which are queried over HTTP for runs' lists and for documents by id.

An engine has a template: the request with placeholders for query and depth, and the paths of ids, scores and
fields in its answer. Templates of some kinds of engine are shipped as YAML. Address and key are read from the
environment, and are never stored or shown.

Answers are stored as they arrive, so that an interrupted run continues with the missing queries. A pool uses
the stored run, because engines may answer the same query differently later.
"""

RATE = 10.0  # default number of requests in a second
