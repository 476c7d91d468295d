"""The app: what annotators, the reviewer and the lead see in a browser.

`serve` puts the routes and the Streamlit pages behind one sign-in; `main` is the frame of every page;
`grading` is the loop in which hundreds of grades an hour are given. Nothing here computes, and nothing
here decides who may see what: that is done in `curation`.
"""
