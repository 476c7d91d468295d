"""The report of an evaluation: sections shared by the HTML file, the app and the terminal."""
