"""The report of an evaluation: sections that one HTML file, the app and the terminal show alike."""
