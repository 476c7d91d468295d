"""The app: the pages that a project's users see in a browser.

`serve` puts the routes and the Streamlit pages behind one sign-in. `main` draws the frame of every page: the
navigation and the title of the browser tab. `grading` is the loop in which annotators give hundreds of grades
an hour. The package `curation` computes all figures and decides who may read which data.
"""
