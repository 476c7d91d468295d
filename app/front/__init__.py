"""What is in front of Streamlit: the guard, the index page, scripts compressed, addresses without a page."""
