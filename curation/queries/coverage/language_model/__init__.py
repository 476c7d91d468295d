"""The optional language model: calls to the model, its stored answers, and queries that it writes for gaps of
coverage.

Any endpoint that speaks OpenAI's chat completions protocol works. A request is sent only if a person asks for
the run: planning and reading stored answers never open a connection.
"""
