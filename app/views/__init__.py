"""The pages: each module and each folder here has a record `PAGE` that names and shows a page.

The folder is not called `pages`, because Streamlit would list the files of such a folder to anybody while a
fresh server starts, and would answer the app's addresses with "page not found".
"""
