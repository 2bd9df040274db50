"""A small grammar of German and English: words, forms, phrases and clauses.

Read `inflection` for the forms of words, `phrases` for what stands together,
`german_clauses` and `english_clauses` for word order, and `sampler` and `sentences` for
what is said.
"""
