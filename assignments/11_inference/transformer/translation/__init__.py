"""From scores to words: searching, caching, and measuring translations.

`inference` and `bleu` are what students write in unit 11. The command line searches
with `fast`, and measures with `evaluation`, which asks sacreBLEU, and torchtext for
the tutorial's figures.
"""
