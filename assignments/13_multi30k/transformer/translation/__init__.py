"""From scores to words: searching, caching, and measuring translations."""
