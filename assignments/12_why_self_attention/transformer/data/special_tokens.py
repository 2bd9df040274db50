"""The four special tokens and their ids, the same in every vocabulary of the course.

They have the order of a torchtext `Field` with `init_token` and `eos_token`.
"""

UNK, PAD, SOS, EOS = SPECIAL_TOKENS = ("<unk>", "<pad>", "<sos>", "<eos>")
UNK_ID, PAD_ID, SOS_ID, EOS_ID = range(4)
