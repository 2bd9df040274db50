"""From scores to words: searching, caching, and measuring translations.

Students write `inference` and `bleu` in unit 11. The command line searches with `fast`,
and measures with `evaluation`, which uses sacreBLEU, and torchtext for the tutorial's
scores.
"""
