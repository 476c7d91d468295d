"""Small components for what Streamlit's own widgets cannot do, with their scripts and styles."""
