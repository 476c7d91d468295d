"""The pages: each module here, or a folder's `__init__`, has a record `PAGE` that names and shows it.

The folder is not called `pages`: Streamlit would list its files in a navigation of its own, to anybody, while
a fresh server starts, and would answer our addresses with "page not found".
"""
