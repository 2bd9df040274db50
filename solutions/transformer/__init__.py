"""The Transformer of "Attention Is All You Need" (Vaswani et al., 2017), in PyTorch.

Read the paper's modules in this order: `config`, `embeddings`, `positional`,
`attention`, `multi_head`, `feed_forward`, `masks`, `parts`, `encoder`, `decoder`,
`model`; then `training.step` and `translation.inference`.

Tensors are batch first. Their axes are called b (batch), h (heads), t (queries, or
target length), s (keys, or source length), d (width). Masks are boolean, True where a
query may attend to a key, and broadcast to (b, h, t, s).
"""

__version__ = "0.1.0"
