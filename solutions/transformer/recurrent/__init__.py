"""The recurrent systems that came before the Transformer.

Students write `attention` in unit 01, and `seq2seq` contains the models around it.
"""
