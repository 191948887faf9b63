"""Where a table comes from: a file of the browser, or what the server offers."""
