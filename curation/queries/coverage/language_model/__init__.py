"""An optional language model for coverage: calls, stored answers, and queries that the model writes for gaps.

Any endpoint with OpenAI's chat completions works. Nothing is sent unless a person asks for it: planning and
reading stored answers never open a connection.
"""
