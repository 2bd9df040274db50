"""The four special tokens and their ids, the same in every vocabulary of the course.

The order is that of a torchtext `Field` with an initial and an end token.
"""

UNK, PAD, SOS, EOS = SPECIAL_TOKENS = ("<unk>", "<pad>", "<sos>", "<eos>")
UNK_ID, PAD_ID, SOS_ID, EOS_ID = range(4)
