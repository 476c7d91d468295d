"""The layers in front of Streamlit: access guard, index page, compressed scripts, connection limits."""
