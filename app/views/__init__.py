"""The pages of the app: each module and folder of this package has a record `PAGE` about a page.

The folder is not called `pages`, because Streamlit would show the files of a folder with this name to anybody
while a new server starts, and would answer the app's addresses with "page not found".
"""
