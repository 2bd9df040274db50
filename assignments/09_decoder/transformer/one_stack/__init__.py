"""Half a Transformer: an encoder alone, as in BERT, and a decoder alone, as in GPT.

`masked_words` and `language_model` are what students write in units 08 and 09.
"""
