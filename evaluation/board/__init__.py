"""Playing in the browser: one game and its analysis, and the server and page that show them."""
