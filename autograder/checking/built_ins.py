"""List all names of each built-in that would be the whole answer to an exercise.

`banned_calls` uses this table when it reads an answer, and the sandbox uses it to
remove the built-ins. The table contains the names of PyTorch's operators and Python
functions.
"""

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
    "math_attention",
    "sdpa_dense",
    "attention_23",  # of ONNX, in Python
)
ENCODER_LAYER = ("TransformerEncoderLayer", "_transformer_encoder_layer_fwd")
OF_HEADS = (
    "MultiheadAttention",
    "multi_head_attention_forward",
    "_native_multi_head_attention",
    "_triton_multi_head_attention",
    *ENCODER_LAYER,
)
LAYER_NORM = (
    *("LayerNorm", "layer_norm", "native_layer_norm", "_normalize", "layernorm_ref"),
)
RMS_NORM = ("RMSNorm", "rms_norm", "_fused_rms_norm", "rmsnorm_ref")
GROUP_NORM = ("GroupNorm", "group_norm", "native_group_norm")
BATCH_NORM = (
    "batch_norm",
    "native_batch_norm",
    "_native_batch_norm_legit",
    "_batch_norm_impl_index",
    "_batch_norm_with_update",
    "native_batch_norm_helper",  # the decomposition in Python
    "cudnn_batch_norm",
)
GRU_CELL = (
    *("GRUCell", "gru_cell", "_thnn_fused_gru_cell"),
    *("gru_cell_data", "one_layer_while_loop_gru"),  # decompositions in Python
)
LOOKUP_GRADIENT = (
    *("embedding_backward", "embedding_sparse_backward", "index_select_backward"),
    *("_embedding_bag_backward", "_embedding_bag_dense_backward"),
    "_embedding_bag_sparse_backward",
)
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
    "autograd": ("_engine_run_backward", "_make_dual", "grad_fn"),
    "embedding_dense_backward": LOOKUP_GRADIENT,
}


def names_of(banned: str) -> set[str]:
    """Return the last part of a dotted name, and all other names of the same object."""
    last = banned.rpartition(".")[-1]
    return {last, *OTHER_NAMES.get(last, ())}
