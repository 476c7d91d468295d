"""Documents in files of their own: a folder or an archive of Markdown, HTML, text, PDF and Word files."""
