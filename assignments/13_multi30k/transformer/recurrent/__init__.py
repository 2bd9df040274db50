"""The recurrent systems that came before the Transformer.

`attention` is what students write in unit 01; `seq2seq` is what it stands on.
"""
