"""The book's drawings: SVG with its text as text, coloured by the page's own style."""
