"""A small grammar of German and English: words, forms, phrases and clauses.

See `inflection` for the forms of words, `phrases` for noun phrases, `german_clauses`
and `english_clauses` for word order, and `sampler` and `sentences` for the content.
"""
