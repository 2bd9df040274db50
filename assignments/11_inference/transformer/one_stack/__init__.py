"""Half a Transformer: only an encoder, as in BERT, and only a decoder, as in GPT.

Students write `masked_words` in unit 08 and `language_model` in unit 09.
"""
