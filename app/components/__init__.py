"""Small components for tasks that Streamlit's own widgets cannot do, with their scripts and styles."""
