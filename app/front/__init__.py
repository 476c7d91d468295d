"""The layers in front of Streamlit: the guard, the index page, compressed scripts, limits of connections."""
