"""An optional language model for coverage: calls, stored answers, and queries that the model writes for gaps.

Any endpoint that speaks OpenAI's chat completions protocol works. A request is sent only if a person asks for
the run: planning and reading stored answers never open a connection.
"""
