"""The app's pages: each module and folder in this package has a record `PAGE` that describes a page.

The folder is not called `pages`, because Streamlit would show the files of a folder with this name to anybody
while a new server starts, and would answer the app's addresses with "page not found".
"""
