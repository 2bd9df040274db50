"""Translate with a trained model: search, cache keys and values, and score.

Students write `inference` and `bleu` in unit 11. The command line uses the faster
search in `fast`. It scores with `evaluation`, which uses sacreBLEU, or torchtext's BLEU
for the tutorial's scores.
"""
