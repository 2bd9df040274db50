"""Recurrent translators and classifiers, the predecessors of the Transformer.

Students write `attention` in unit 01, and `seq2seq` contains the models around it.
"""
