"""One page a module, each with a function `show(annotator)`.

The folder is not called `pages`: Streamlit would take its files for pages of its own, show their names to
anybody in the first moments of a fresh server, and say of our addresses that there is no such page.
"""
