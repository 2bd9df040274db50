"""Say under which names a built-in runs that would be the whole answer.

The one table of them: for reading an answer (`banned_calls`), and for what its calls
run. A name of what ran is an operator's, `aten::bmm`, or a function's,
`torch.nn.functional:layer_norm`.
"""

from collections.abc import Collection

ATTENTION = (
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_attention_math_for_mps",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_fused_attention_overrideable",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
    "_flash_attention_forward",
    "_efficient_attention_forward",
    "flex_attention",
)
ENCODER_LAYER = ("TransformerEncoderLayer", "_transformer_encoder_layer_fwd")
OF_HEADS = (
    "MultiheadAttention",
    "multi_head_attention_forward",
    "_native_multi_head_attention",
    "_triton_multi_head_attention",
    *ENCODER_LAYER,
)
LAYER_NORM = ("LayerNorm", "layer_norm", "native_layer_norm", "_normalize")
RMS_NORM = ("RMSNorm", "rms_norm", "_fused_rms_norm")
GROUP_NORM = ("GroupNorm", "group_norm", "native_group_norm")
BATCH_NORM = (
    "batch_norm",
    "native_batch_norm",
    "_native_batch_norm_legit",
    "_batch_norm_impl_index",
    "_batch_norm_with_update",
    "cudnn_batch_norm",
)
GRU_CELL = ("GRUCell", "gru_cell", "_thnn_fused_gru_cell")
OTHER_NAMES = {
    "scaled_dot_product_attention": ATTENTION,
    "MultiheadAttention": OF_HEADS,
    "multi_head_attention_forward": OF_HEADS,
    "TransformerEncoderLayer": ENCODER_LAYER,
    "Transformer": ENCODER_LAYER,
    "LayerNorm": LAYER_NORM,
    "layer_norm": LAYER_NORM,
    "RMSNorm": RMS_NORM,
    "rms_norm": RMS_NORM,
    "GroupNorm": GROUP_NORM,
    "group_norm": GROUP_NORM,
    "batch_norm": BATCH_NORM,
    "GRUCell": GRU_CELL,
    "GRU": ("gru",),
}


def names_of(banned: str) -> set[str]:
    """Return the last part of a dotted name, and the other names of the same thing."""
    last = banned.rpartition(".")[-1]
    return {last, *OTHER_NAMES.get(last, ())}


def is_run(banned: str, ran: Collection[str]) -> str | None:
    """Return the shortest name under which something banned has run, or None.

    Args:
        banned: a dotted name, such as `torch.nn.LayerNorm`.
        ran: names of operators and functions.
    """
    package, names = banned.partition(".")[0], names_of(banned)
    found = [
        name
        for owner, name in map(_parted, ran)
        if owner == package and names & _parts(name)
    ]
    return min(found, key=lambda name: (len(name), name), default=None)


def _parted(ran: str) -> tuple[str, str]:
    """Return the package that something is of, and its name there."""
    if "::" in ran:
        return "torch", ran.removeprefix("aten::")
    module, _, name = ran.partition(":")
    return module.partition(".")[0], name


def _parts(name: str) -> set[str]:
    return set(name.replace("::", ".").split("."))
