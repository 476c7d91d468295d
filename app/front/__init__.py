"""The layers between browsers and Streamlit, which admit, limit and speed up requests."""
