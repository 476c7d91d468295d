"""The report of an evaluation: sections that the HTML file, the app and the terminal all show."""
