"""The app: the pages that annotators, the reviewer and the lead see in a browser.

`serve` puts the routes and the Streamlit pages behind one sign-in. `main` is the frame of every page.
`grading` is the loop in which annotators give hundreds of grades an hour. The app computes no figures and has
no rules about access to data; `curation` does both.
"""
