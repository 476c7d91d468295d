"""A language model for coverage, optional: it finds entities, and writes queries for the gaps.

Any endpoint that speaks OpenAI's chat completions will do. Nothing is sent unless somebody asks for it: what
plans and what reads stored answers never opens a connection.
"""
