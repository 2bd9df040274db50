"""The book's drawings: SVG with real text, and with the colours of the page."""
