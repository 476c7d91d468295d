"""What is in front of Streamlit: the index page, its scripts compressed, and addresses without a page."""
