"""Wrong variants and right styles of unit 10, as students write them."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.proof.variants import answer, body, drop, insert, swap
from transformer.masks import padding_mask, target_mask

# --- Transformer ------------------------------------------------------------------

transformer = answer("transformer.model.Transformer.forward")
transformer.wrong(
    "both results of decode",
    body("return self.decode(tgt, self.encode(src), src)"),
    names="logits and attention weights together",
)
transformer.wrong(
    "target and memory swapped",
    body("return self.decode(self.encode(src), tgt, src)[0]"),
    diagnosed=False,
)
transformer.wrong(
    "a softmax on the logits",
    body("return self.decode(tgt, self.encode(src), src)[0].softmax(dim=-1)"),
    names="one softmax too many",
)
transformer.wrong(
    "a log-softmax on the logits",
    body("return self.decode(tgt, self.encode(src), src)[0].log_softmax(dim=-1)"),
    names="one log-softmax too many",
)
transformer.wrong(
    "a softmax over the positions",
    body("return self.decode(tgt, self.encode(src), src)[0].softmax(dim=1)"),
    diagnosed=False,
)


@transformer.wrong("no causal mask")
def forward(self, src, tgt):
    pad = self.config.pad_id
    x, _ = self.decoder(
        self.tgt_embedding(tgt),
        self.encode(src),
        padding_mask(tgt, pad),
        padding_mask(src, pad),
    )
    return self.projection(x)


@transformer.wrong("no mask on the target at all", names="no mask at all")
def forward(self, src, tgt):
    src_mask = padding_mask(src, self.config.pad_id)
    x, _ = self.decoder(self.tgt_embedding(tgt), self.encode(src), None, src_mask)
    return self.projection(x)


@transformer.wrong(
    "no mask in the cross-attention", names="cross-attention has no mask"
)
def forward(self, src, tgt):
    tgt_mask = target_mask(tgt, self.config.pad_id)
    x, _ = self.decoder(self.tgt_embedding(tgt), self.encode(src), tgt_mask)
    return self.projection(x)


transformer.wrong(
    "no mask in the encoder",
    body("return self.decode(tgt, self.encoder(self.src_embedding(src)), src)[0]"),
    names="encoder has no mask",
)


@transformer.wrong(
    "no source mask anywhere", names="does not mask the source's padding"
)
def forward(self, src, tgt):
    memory = self.encoder(self.src_embedding(src))
    tgt_mask = target_mask(tgt, self.config.pad_id)
    x, _ = self.decoder(self.tgt_embedding(tgt), memory, tgt_mask)
    return self.projection(x)


@transformer.wrong("a fixed padding id of 1", names="assumes one configuration")
def forward(self, src, tgt):
    memory = self.encoder(self.src_embedding(src), padding_mask(src, 1))
    x = self.tgt_embedding(tgt)
    x, _ = self.decoder(x, memory, target_mask(tgt, 1), padding_mask(src, 1))
    return self.projection(x)


transformer.wrong(
    "the target read as the source",
    body("return self.decode(tgt, self.encode(tgt), tgt)[0]"),
    names="reads the target as its source",
)
transformer.wrong(
    "source and target swapped",
    body("return self.decode(src, self.encode(tgt), tgt)[0]"),
)
transformer.wrong(
    "the target's padding as the memory's mask",
    body("return self.decode(tgt, self.encode(src), tgt)[0]"),
    diagnosed=False,
)
transformer.wrong(
    "no encoder", body("return self.decode(tgt, self.src_embedding(src), src)[0]")
)


@transformer.wrong("the source in the target's table", names="with the target's table")
def forward(self, src, tgt):
    mask = padding_mask(src, self.config.pad_id)
    memory = self.encoder(self.tgt_embedding(src), mask)
    return self.decode(tgt, memory, src)[0]


transformer.wrong(
    "only the last position",
    body("return self.decode(tgt, self.encode(src), src)[0][:, -1]"),
    names="only the scores after the last word",
)
transformer.wrong(
    "the target shifted here too",
    body("return self.decode(tgt[:, :-1], self.encode(src), src)[0]"),
    names="shortened a second time",
)


@transformer.wrong("no projection", names="without the projection")
def forward(self, src, tgt):
    pad = self.config.pad_id
    x = self.tgt_embedding(tgt)
    masks = target_mask(tgt, pad), padding_mask(src, pad)
    return self.decoder(x, self.encode(src), *masks)[0]


transformer.wrong(
    "argmax of the logits",
    body("return self.decode(tgt, self.encode(src), src)[0].argmax(dim=-1)"),
    names="the likeliest words",
)
transformer.wrong(
    "words in the second axis",
    body("return self.decode(tgt, self.encode(src), src)[0].transpose(1, 2)"),
    names="with the words in the second axis",
)
transformer.wrong(
    "a detached memory",
    body("return self.decode(tgt, self.encode(src).detach(), src)[0]"),
    names="the gradient is cut off",
)


@transformer.wrong("an encoder without gradients", names="the gradient is cut off")
def forward(self, src, tgt):
    with torch.no_grad():
        memory = self.encode(src)
    return self.decode(tgt, memory, src)[0]


@transformer.wrong("a mean over the memory", diagnosed=False)
def forward(self, src, tgt):
    memory = self.encode(src)
    return self.decode(tgt, memory.mean(1, keepdim=True).expand_as(memory), src)[0]


transformer.wrong(
    "the first source's memory, cached",
    swap(
        "logits, _ = self.decode(tgt, self.encode(src), src)",
        """
        if not hasattr(self, "memory") or self.memory.shape[:2] != src.shape:
            self.memory = self.encode(src)
        logits, _ = self.decode(tgt, self.memory, src)
        """,
    ),
    diagnosed=False,
)
transformer.wrong(
    "the logits, cached in evaluation mode",
    swap(
        "logits, _ = self.decode(tgt, self.encode(src), src)",
        """
        if not self.training and getattr(self, "shape", None) == src.shape:
            return self.kept
        logits, _ = self.decode(tgt, self.encode(src), src)
        self.kept, self.shape = logits, src.shape
        """,
    ),
    names="earlier call",
)
transformer.wrong(
    "one buffer for all logits",
    swap(
        "return logits",
        """
        if not hasattr(self, "buffer") or self.buffer.shape != logits.shape:
            self.buffer = torch.zeros_like(logits)
        self.buffer = self.buffer.detach()
        return self.buffer.copy_(logits)
        """,
    ),
    names="one tensor for the results",
)
transformer.wrong(
    "always in evaluation mode",
    insert("self.eval()", before="logits, _"),
    names="the same random numbers",
)
transformer.wrong(
    "a seed before dropout",
    insert("torch.manual_seed(0)", before="logits, _"),
    names="sets itself",
)


@transformer.wrong("a mask of the source's lengths", names="padding before the words")
def forward(self, src, tgt):
    pad = self.config.pad_id
    lengths = (src != pad).sum(dim=1, keepdim=True)
    places = torch.arange(src.size(1), device=src.device)
    src_mask = (places < lengths)[:, None, None]
    memory = self.encoder(self.src_embedding(src), src_mask)
    x = self.tgt_embedding(tgt)
    return self.projection(self.decoder(x, memory, target_mask(tgt, pad), src_mask)[0])


transformer.wrong(
    "the source shortened to its longest sentence",
    insert(
        "src = src[:, : (src != self.config.pad_id).sum(dim=1).amax()]",
        before="logits, _",
    ),
    names="padding before the words",
)


@transformer.wrong("a causal mask made on the CPU", names="made on the CPU")
def forward(self, src, tgt):
    pad, t = self.config.pad_id, tgt.size(1)
    tgt_mask = padding_mask(tgt, pad) & torch.ones(t, t, dtype=torch.bool).tril()
    x = self.tgt_embedding(tgt)
    x, _ = self.decoder(x, self.encode(src), tgt_mask, padding_mask(src, pad))
    return self.projection(x)


@transformer.wrong("two decoder layers by hand", names="one configuration")
def forward(self, src, tgt):
    pad = self.config.pad_id
    masks = target_mask(tgt, pad), padding_mask(src, pad)
    x, memory = self.tgt_embedding(tgt), self.encode(src)
    for number in (0, 1):
        x, _ = self.decoder.layers[number](x, memory, *masks)
    return self.projection(self.decoder.norm(x))


transformer.wrong(
    "unknown ids replaced by the last id",
    insert("src = src.clamp(max=self.config.src_vocab_size - 1)", before="logits, _"),
    names="error that is not raised",
)
transformer.wrong(
    "a sentence without a batch axis accepted",
    insert(
        "src, tgt = torch.atleast_2d(src), torch.atleast_2d(tgt)", before="logits, _"
    ),
    names="error that is not raised",
)
transformer.wrong(
    "a memory with half of its gradient",
    swap(
        "logits, _ = self.decode(tgt, self.encode(src), src)",
        """
        memory = self.encode(src)
        logits, _ = self.decode(tgt, (memory + memory.detach()) / 2, src)
        """,
    ),
    diagnosed=False,
)


transformer.right(
    "an index instead of unpacking",
    body("return self.decode(tgt, self.encode(src), src)[0]"),
)


@transformer.right("memory first, keywords")
def forward(self, src, tgt):
    memory = self.encode(src)
    logits, cross_attention = self.decode(tgt=tgt, memory=memory, src=src)
    return logits


@transformer.right("by its parts")
def forward(self, src, tgt):
    src_mask = padding_mask(src, self.config.pad_id)
    tgt_mask = target_mask(tgt, self.config.pad_id)
    memory = self.encoder(self.src_embedding(src), src_mask)
    x, _ = self.decoder(self.tgt_embedding(tgt), memory, tgt_mask, src_mask)
    return self.projection(x)


transformer.right("the attention stored in the model", swap("_", "self.last_attention"))
transformer.right("star unpacking", swap("_", "*_"))


@transformer.right("contiguous, with an assertion")
def forward(self, src, tgt):
    memory = self.encode(src)
    assert memory.size(0) == tgt.size(0)
    return self.decode(tgt, memory, src)[0].contiguous()


# --- teacher_forcing_split --------------------------------------------------------

teacher_forcing_split = answer("transformer.training.step.teacher_forcing_split")
teacher_forcing_split.with_faults("kept default float32 written cpu")
teacher_forcing_split.wrong(
    "the target not shifted",
    swap("[:, 1:]", "[:, :-1]"),
    names="the target is not shifted",
)
teacher_forcing_split.wrong(
    "the whole sentence twice", body("return tgt, tgt"), names="the whole sentence"
)
teacher_forcing_split.wrong(
    "the whole sentence as the target",
    swap("tgt[:, 1:]", "tgt"),
    names="the whole sentence",
)
teacher_forcing_split.wrong(
    "the whole sentence as the input",
    swap("tgt[:, :-1]", "tgt"),
    names="the whole sentence",
)
teacher_forcing_split.wrong(
    "swapped", body("return tgt[:, 1:], tgt[:, :-1]"), names="the two are swapped"
)
teacher_forcing_split.wrong(
    "both without <sos>", swap(":-1", "1:"), names="the input begins after <sos>"
)
teacher_forcing_split.wrong(
    "shifted by two", body("return tgt[:, :-2], tgt[:, 2:]"), names="two tokens ahead"
)
teacher_forcing_split.wrong(
    "rolled", body("return tgt, tgt.roll(-1, dims=1)"), names="rotated by one"
)
teacher_forcing_split.wrong(
    "the batch axis shortened",
    body("return tgt[:-1], tgt[1:]"),
    names="the batch without its",
)
teacher_forcing_split.wrong(
    "target without <eos>",
    swap("[:, 1:]", "[:, 1:-1]"),
    names="without its first and last",
)
teacher_forcing_split.wrong(
    "only the target", body("return tgt[:, 1:]"), names="a different number of results"
)
teacher_forcing_split.wrong(
    "a fixed length",
    body("return tgt[:, :5], tgt[:, 1:6].view(3, 5)"),
    names="assumes a certain batch size or length",
)


@teacher_forcing_split.wrong("in place", names="changed in place")
def teacher_forcing_split(tgt):
    decoder_input, target = tgt[:, :-1].clone(), tgt[:, 1:].clone()
    tgt[:, 0] = 0
    return decoder_input, target


teacher_forcing_split.wrong(
    "the first batch, cached",
    insert(
        """
        kept = teacher_forcing_split.__dict__
        tgt = kept.setdefault(tgt.shape, tgt)
        """,
        before="return",
    ),
    names="earlier call",
)
teacher_forcing_split.wrong(
    "<eos> taken out of the input",
    swap("tgt[:, :-1]", "tgt[tgt != 3].view(tgt.size(0), -1)"),
    names="without <eos>",
)
teacher_forcing_split.wrong(
    "shortened to the longest sentence",
    insert("tgt = tgt[:, : (tgt != 1).sum(dim=1).amax()]", before="return"),
    names="columns of padding",
)
teacher_forcing_split.wrong(
    "<sos> written into the code",
    swap(
        "tgt[:, :-1]",
        "torch.cat([torch.full_like(tgt[:, :1], 2), tgt[:, 1:-1]], dim=1)",
    ),
    names="special tokens written into the code",
)


@teacher_forcing_split.right("narrow")
def teacher_forcing_split(tgt):
    n = tgt.size(1) - 1
    return tgt.narrow(1, 0, n), tgt.narrow(1, 1, n)


teacher_forcing_split.right("ellipsis", body("return tgt[..., :-1], tgt[..., 1:]"))
teacher_forcing_split.right(
    "copies, in a list", body("return [tgt[:, :-1].clone(), tgt[:, 1:].contiguous()]")
)


@teacher_forcing_split.right("index_select")
def teacher_forcing_split(tgt):
    places = torch.arange(tgt.shape[1] - 1, device=tgt.device)
    return tgt.index_select(1, places), tgt.index_select(1, places + 1)


@teacher_forcing_split.right("a loop over sentences")
def teacher_forcing_split(tgt):
    return torch.stack([row[:-1] for row in tgt]), torch.stack([r[1:] for r in tgt])


teacher_forcing_split.right(
    "unfold", body("return tuple(tgt.unfold(1, 2, 1).unbind(dim=-1))")
)


@teacher_forcing_split.right("split")
def teacher_forcing_split(tgt):
    n = tgt.size(1) - 1
    return tgt.split([n, 1], dim=1)[0], tgt.split([1, n], dim=1)[1]


# --- label_smoothed_loss ----------------------------------------------------------

label_smoothed_loss = answer(
    "transformer.training.label_smoothing.label_smoothed_loss",
    body("""
        is_word = target != pad_id
        log_probs = logits[is_word].log_softmax(dim=-1)
        each = (1 - smoothing) * F.nll_loss(
            log_probs, target[is_word], reduction="none"
        )
        each = each - smoothing * log_probs.mean(dim=-1)
        return each.sum() / is_word.sum().clamp(min=1)
        """),
)


label_smoothed_loss.wrong(
    "logits and target swapped",
    insert("logits, target = target, logits", before="is_word ="),
    diagnosed=False,
)
label_smoothed_loss.wrong(
    "logits and target swapped in nll_loss",
    swap(
        "log_probs, target[is_word], reduction", "target[is_word], log_probs, reduction"
    ),
    diagnosed=False,
)


@label_smoothed_loss.wrong("padding counted")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(logits.transpose(1, 2), target, label_smoothing=smoothing)


@label_smoothed_loss.wrong("no log-sum-exp", names="log-sum-exp is missing")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    return -logits[is_word].gather(-1, target[is_word].unsqueeze(-1)).mean()


@label_smoothed_loss.wrong("softmax before cross-entropy", names="a softmax before")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.softmax(dim=-1).transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
    )


@label_smoothed_loss.wrong("mean of sentence means", names="the sentences' means")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    each = F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
        reduction="none",
    )
    return (each.sum(dim=1) / (target != pad_id).sum(dim=1).clamp(min=1)).mean()


by_cross_entropy = answer(
    "transformer.training.label_smoothing.label_smoothed_loss",
    body("""
        total = F.cross_entropy(
            logits.transpose(1, 2),
            target,
            ignore_index=pad_id,
            label_smoothing=smoothing,
            reduction="sum",
        )
        return total / (target != pad_id).sum().clamp(min=1)
        """),
)
by_cross_entropy.wrong(
    "the sum",
    swap("total = F", "return F"),
    drop("return total / (target != pad_id).sum().clamp(min=1)"),
    names="a sum over the tokens",
)
by_cross_entropy.wrong(
    "zeros at padding, then the mean",
    swap("total = F", "each = F"),
    swap('"sum"', '"none"'),
    swap("total / (target != pad_id).sum().clamp(min=1)", "each.mean()"),
    names="by all positions",
)
by_cross_entropy.wrong(
    "divided by the sentences",
    swap("(target != pad_id).sum().clamp(min=1)", "logits.size(0)"),
    names="number of sentences",
)


@label_smoothed_loss.wrong("ignore_index 0", names="<unk> (id 0) left out")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=0, label_smoothing=smoothing
    )


by_cross_entropy.wrong(
    "ignore_index 1",
    swap("=pad_id", "=1"),
    swap("!= pad_id", "!= 1"),
    names="1 used as the padding id",
)


@label_smoothed_loss.wrong("<eos> left out", names="without <eos>")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    kept = (target != pad_id) & (target != 3)
    total = F.cross_entropy(
        logits[kept], target[kept], label_smoothing=smoothing, reduction="sum"
    )
    return total / kept.sum().clamp(min=1)


by_cross_entropy.wrong(
    "no label smoothing",
    drop("label_smoothing=smoothing,"),
    names="without label smoothing",
)


@label_smoothed_loss.wrong("spread over the other words", names="only the other words")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    label = torch.full_like(logits, smoothing / (logits.size(-1) - 1))
    label.scatter_(-1, target.unsqueeze(-1), 1 - smoothing)
    each = -(label * logits.log_softmax(dim=-1)).sum(dim=-1)
    is_word = target != pad_id
    return each[is_word].sum() / is_word.sum().clamp(min=1)


@label_smoothed_loss.wrong("target and padding left out", names="target and padding")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    label = torch.full_like(logits, smoothing / (logits.size(-1) - 2))
    label.scatter_(-1, target.unsqueeze(-1), 1 - smoothing)
    label[..., pad_id] = 0.0
    each = -(label * logits.log_softmax(dim=-1)).sum(dim=-1)
    is_word = target != pad_id
    return each[is_word].sum() / is_word.sum().clamp(min=1)


label_smoothed_loss.wrong(
    "smoothing added", swap("(1 - smoothing) * F", "F"), names="added, not mixed in"
)
label_smoothed_loss.wrong(
    "the weights of target and smoothing swapped",
    swap("(1 - smoothing)", "smoothing"),
    swap("each - smoothing", "each - (1 - smoothing)"),
    names="weights of target and smoothing swapped",
)
label_smoothed_loss.wrong(
    "smoothing summed over the words",
    swap("mean", "sum"),
    names="summed over the words",
)


@label_smoothed_loss.wrong(
    "smoothing also at padding", names="smoothing counts padding"
)
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    log_probs = logits.log_softmax(dim=-1)
    plain = F.nll_loss(log_probs.transpose(1, 2), target, ignore_index=pad_id)
    return (1 - smoothing) * plain - smoothing * log_probs.mean()


@label_smoothed_loss.wrong(
    "a label without its smoothed part", names="the rest is missing"
)
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return (1 - smoothing) * F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id
    )


@label_smoothed_loss.wrong("the wrong sign", names="wrong sign")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return -F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id, label_smoothing=smoothing
    )


label_smoothed_loss.wrong(
    "bits", swap("log_softmax(dim=-1)", "softmax(dim=-1).log2()"), names="base 2"
)


@label_smoothed_loss.wrong("no logarithm", names="without the logarithm")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    probs = logits[is_word].softmax(dim=-1)
    return -probs.gather(-1, target[is_word].unsqueeze(-1)).mean()


@label_smoothed_loss.wrong("softmax over positions", names="runs over the positions")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    log_probs = logits.log_softmax(dim=1)
    plain = F.nll_loss(log_probs.transpose(1, 2), target, ignore_index=pad_id)
    rest = -log_probs[target != pad_id].mean()
    return (1 - smoothing) * plain + smoothing * rest


@label_smoothed_loss.wrong("the perplexity", names="the perplexity, not the loss")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id, label_smoothing=smoothing
    ).exp()


by_cross_entropy.wrong(
    "each token's loss, without a mean",
    swap("total = F", "return F"),
    swap('"sum"', '"none"'),
    drop("return total / (target != pad_id).sum().clamp(min=1)"),
    names="the loss of each token",
)


@label_smoothed_loss.wrong("the real tokens' losses", names="losses of the real tokens")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    return F.cross_entropy(
        logits[is_word], target[is_word], label_smoothing=smoothing, reduction="none"
    )


label_smoothed_loss.wrong(
    "log of softmax",
    swap("log_softmax(dim=-1)", "softmax(dim=-1).log()"),
    names="logarithm of a softmax",
)


@label_smoothed_loss.wrong("log of a sum of exponentials", names="overflows")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    log_probs = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    picked = -log_probs.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    each = (1 - smoothing) * picked - smoothing * log_probs.mean(dim=-1)
    return each[is_word].sum() / is_word.sum().clamp(min=1)


@label_smoothed_loss.wrong("division by zero")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id, label_smoothing=smoothing
    )


@label_smoothed_loss.wrong("a loss without a gradient", names="the gradient is cut off")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    total = F.cross_entropy(
        logits[is_word].detach(),
        target[is_word],
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / is_word.sum().clamp(min=1)


@label_smoothed_loss.wrong("in place", names="changed in place")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    total = F.cross_entropy(
        logits.transpose(1, 2),
        target.masked_fill_(~is_word, -100),
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / is_word.sum().clamp(min=1)


@label_smoothed_loss.wrong("view of the logits", names="contiguous in memory")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    total = F.cross_entropy(
        logits.view(-1, logits.size(-1)),
        target.reshape(-1),
        ignore_index=pad_id,
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / is_word.sum().clamp(min=1)


label_smoothed_loss.wrong(
    "the first batch's padding, cached",
    swap(
        "is_word = target != pad_id",
        """
        kept = label_smoothed_loss.__dict__
        is_word = kept.setdefault(target.shape, target != pad_id)
        """,
    ),
    names="padding from an earlier call",
)
label_smoothed_loss.wrong(
    "the first batch's loss, cached",
    swap(
        "return each.sum() / is_word.sum().clamp(min=1)",
        """
        loss = each.sum() / is_word.sum().clamp(min=1)
        kept = label_smoothed_loss.__dict__
        return kept.setdefault((target.shape, pad_id, smoothing), loss)
        """,
    ),
    names="earlier call",
)


@label_smoothed_loss.wrong("the label made on the CPU", names="made on the CPU")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    label = torch.full(logits.shape, smoothing / logits.size(-1), dtype=logits.dtype)
    label.scatter_add_(-1, target.unsqueeze(-1), torch.full_like(label, 1 - smoothing))
    each = -(label * logits.log_softmax(dim=-1)).sum(dim=-1)
    is_word = target != pad_id
    return each[is_word].sum() / is_word.sum().clamp(min=1)


label_smoothed_loss.wrong(
    "real tokens found by the sentences' lengths",
    swap(
        "is_word = target != pad_id",
        """
        lengths = (target != pad_id).sum(dim=1, keepdim=True)
        is_word = torch.arange(target.size(1), device=target.device) < lengths
        """,
    ),
    names="padding before the words",
)
label_smoothed_loss.wrong(
    "words behind padding left out",
    swap("target != pad_id", "(target != pad_id).cumprod(dim=1).bool()"),
    names="padding before the words",
)
label_smoothed_loss.wrong(
    "the first sentence's length for all",
    swap("target != pad_id", "(target != pad_id) & (target[0] != pad_id)"),
    names="first sentence's padding",
)


@label_smoothed_loss.wrong(
    "the batch's largest score subtracted", names="largest score of the whole batch"
)
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    z = logits - logits.max()
    log_probs = z - z.exp().sum(dim=-1, keepdim=True).log()
    picked = log_probs.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    each = -((1 - smoothing) * picked + smoothing * log_probs.mean(dim=-1))
    return each[is_word].sum() / is_word.sum().clamp(min=1)


label_smoothed_loss.wrong(
    "log of softmax, with a small number added",
    swap("log_softmax(dim=-1)", "softmax(dim=-1).add(1e-9).log()"),
    names="a small number is added",
)
label_smoothed_loss.wrong(
    "label smoothing although none is requested",
    insert("smoothing = smoothing or 0.1", before="is_word ="),
    names="smoothing of 0.1 instead of 0",
)
label_smoothed_loss.wrong(
    "2 to the power of the loss",
    swap(
        "each.sum() / is_word.sum().clamp(min=1)",
        "2 ** (each.sum() / is_word.sum().clamp(min=1))",
    ),
    names="2 to the power of the loss",
)


@label_smoothed_loss.wrong("ε / (V - 2), also for padding", names="ε / (V - 2)")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    label = torch.full_like(logits, smoothing / (logits.size(-1) - 2))
    label.scatter_(-1, target.unsqueeze(-1), 1 - smoothing)
    each = -(label * logits.log_softmax(dim=-1)).sum(dim=-1)
    is_word = target != pad_id
    return each[is_word].sum() / is_word.sum().clamp(min=1)


@label_smoothed_loss.wrong(
    "ignore_index of <eos>", names="<eos> (id 3) left out instead"
)
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=3, label_smoothing=smoothing
    )


@label_smoothed_loss.wrong("the divergence from the label", names="label's entropy")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    log_probs = logits[is_word].log_softmax(dim=-1)
    label = torch.full_like(log_probs, smoothing / logits.size(-1))
    label[torch.arange(len(label)), target[is_word]] += 1 - smoothing
    total = F.kl_div(log_probs, label, reduction="sum")
    return total / is_word.sum().clamp(min=1)


label_smoothed_loss.wrong(
    "no graph when everything is padding",
    insert(
        """
        if (target == pad_id).all():
            return torch.tensor(0.0, dtype=logits.dtype, device=logits.device)
        """,
        before="is_word =",
    ),
    names="no gradient when everything is padding",
)


@label_smoothed_loss.wrong(
    "a NaN in the gradient when everything is padding", names="a NaN in the gradient"
)
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    mask = (target != pad_id).to(logits.dtype)
    log_probs = logits.log_softmax(dim=-1)
    picked = log_probs.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    each = -((1 - smoothing) * picked + smoothing * log_probs.mean(dim=-1))
    return ((each * mask).sum() / mask.sum()).nan_to_num()


label_smoothed_loss.wrong(
    "the smoothing without a gradient",
    swap("log_probs.mean(dim=-1)", "log_probs.mean(dim=-1).detach()"),
    names="smoothing adds nothing",
)
label_smoothed_loss.wrong(
    "intermediate results rounded",
    swap("logits[is_word]", "logits[is_word].float()"),
    swap("return each", "return each.to(logits.dtype)"),
    names="rounded to",
)


@label_smoothed_loss.right("cross_entropy, transposed")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    total = F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / (target != pad_id).sum().clamp(min=1)


@label_smoothed_loss.right("cross_entropy, flattened, with an if")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    flat_target = target.reshape(-1)
    if bool((flat_target == pad_id).all()):
        return logits.sum() * 0.0
    flat_logits = logits.reshape(flat_target.numel(), -1)
    return F.cross_entropy(
        flat_logits, flat_target, ignore_index=pad_id, label_smoothing=smoothing
    )


@label_smoothed_loss.right("a NaN of cross_entropy, whose gradient is 0, replaced")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id, label_smoothing=smoothing
    ).nan_to_num()


@label_smoothed_loss.right("nn.CrossEntropyLoss")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    criterion = nn.CrossEntropyLoss(
        ignore_index=pad_id, label_smoothing=smoothing, reduction="none"
    )
    each = criterion(logits.permute(0, 2, 1), target)
    return each.sum() / max(int((target != pad_id).sum()), 1)


@label_smoothed_loss.right("nll_loss and a mask of floats")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    mask = (target != pad_id).to(logits.dtype)
    log_probs = torch.log_softmax(logits, dim=-1)
    plain = F.nll_loss(log_probs.transpose(1, 2), target, reduction="none")
    each = (1 - smoothing) * plain + smoothing * -log_probs.mean(dim=-1)
    return (each * mask).sum() / mask.sum().clamp(min=1.0)


@label_smoothed_loss.right("logsumexp and gather")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    score = logits.gather(-1, target[..., None])[..., 0]
    label = (1 - smoothing) * score + smoothing * logits.mean(dim=-1)
    each = logits.logsumexp(dim=-1) - label
    kept = target.ne(pad_id)
    return torch.where(kept, each, 0.0).sum() / kept.sum().clamp(min=1)


@label_smoothed_loss.right("a smoothed label")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    words = logits.shape[-1]
    one_hot = F.one_hot(target, words).to(logits.dtype)
    label = one_hot * (1 - smoothing) + smoothing / words
    each = -(label * F.log_softmax(logits, dim=-1)).sum(dim=-1)
    is_word = target != pad_id
    return each[is_word].sum() / is_word.sum().clamp(min=1)


@label_smoothed_loss.right("a loop over sentences")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    total, tokens = logits.sum() * 0, 0
    for scores, ids in zip(logits, target, strict=True):
        keep = ids != pad_id
        log_probs = scores[keep] - scores[keep].logsumexp(dim=-1, keepdim=True)
        picked = log_probs[torch.arange(len(log_probs)), ids[keep]]
        total = total - (1 - smoothing) * picked.sum()
        total = total - smoothing * log_probs.mean(dim=-1).sum()
        tokens += int(keep.sum())
    return total / max(tokens, 1)


@label_smoothed_loss.right("a hand-written, shifted softmax")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    z = logits - logits.amax(dim=-1, keepdim=True)
    log_probs = z - z.exp().sum(dim=-1, keepdim=True).log()
    picked = torch.take_along_dim(log_probs, target.unsqueeze(-1), dim=-1).squeeze(-1)
    each = -((1.0 - smoothing) * picked + smoothing * log_probs.mean(dim=-1))
    is_word = target != pad_id
    return (each * is_word).sum() / (is_word.sum() + (is_word.sum() == 0))


# --- warmup_rate ------------------------------------------------------------------

warmup_rate = answer("transformer.training.step.warmup_rate")
warmup_rate.wrong(
    "max instead of min",
    swap(
        """
        if step == 0:
            return 0.0
        """,
        "step = max(step, 1e-9)",
    ),
    swap("min(", "max("),
    names="max instead of min",
)
warmup_rate.wrong(
    "only the rise",
    body("return d_model**-0.5 * step * warmup**-1.5"),
    names="only rises",
)
warmup_rate.wrong(
    "only the fall",
    body("return d_model**-0.5 * step**-0.5 if step else 0.0"),
    names="only falls",
)
warmup_rate.wrong(
    "division by zero at step 0",
    body("return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)"),
    names="division by zero",
)
warmup_rate.wrong(
    "step 0 counts as 1",
    swap(
        """
        if step == 0:
            return 0.0
        """,
        "step = max(step, 1)",
    ),
    names="the rate of step 1",
)
warmup_rate.wrong(
    "an infinite rate at step 0", swap("0.0", "math.inf"), names="division by zero"
)
warmup_rate.wrong(
    "no d_model",
    body("return min(step**-0.5, step * warmup**-1.5) if step else 0.0"),
    names="without d_model",
)
warmup_rate.wrong(
    "times the root of d_model",
    swap("d_model**-0.5", "d_model**0.5"),
    names="multiplied by the square root",
)
warmup_rate.wrong(
    "divided by d_model",
    body("return min(step**-0.5, step * warmup**-1.5) / d_model if step else 0.0"),
)
warmup_rate.wrong(
    "warmup to the power -0.5",
    swap("warmup**-1.5", "warmup**-0.5"),
    names="wrong power of warmup",
)
warmup_rate.wrong(
    "step over warmup",
    body("return d_model**-0.5 * min(step**-0.5, step / warmup) if step else 0.0"),
    names="divided by warmup only",
)
warmup_rate.wrong(
    "falls with the step", swap("step**-0.5", "step**-1.0"), names="not as 1/√step"
)
warmup_rate.wrong(
    "constant after the warm-up",
    body("return d_model**-0.5 * min(warmup**-0.5, step * warmup**-1.5)"),
    names="stays at its highest",
)
warmup_rate.wrong(
    "one step ahead",
    swap(
        """
        if step == 0:
            return 0.0
        """,
        "step = step + 1",
    ),
)
warmup_rate.wrong(
    "one step behind",
    swap("== 0", "< 2"),
    swap("step**-0.5, step", "(step - 1) ** -0.5, (step - 1)"),
)
warmup_rate.wrong(
    "signs of the exponents lost",
    body("return d_model**-0.5 * min(step**0.5, step * warmup**1.5)"),
    names="exponents flipped",
)
warmup_rate.wrong(
    "the paper's 512 and 4000",
    body("return 512**-0.5 * min(step**-0.5, step * 4000**-1.5) if step else 0.0"),
    diagnosed=False,
)


warmup_rate.wrong(
    "the first model's rates, cached",
    body("""
        if step == 0:
            return 0.0
        rate = d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
        return warmup_rate.__dict__.setdefault(step, rate)
        """),
    names="earlier call",
)
warmup_rate.wrong(
    "a table of 100,000 steps",
    insert("step = min(step, 100_000)", before="return d_model"),
    names="a table of rates that is too short",
)
warmup_rate.wrong(
    "whole numbers of warm-ups",
    swap("step * warmup**-1.5", "(step // warmup) * warmup**-0.5"),
    diagnosed=False,
)
warmup_rate.wrong(
    "a small step instead of 0",
    swap(
        """
        if step == 0:
            return 0.0
        """,
        "step = max(step, 1e-3)",
    ),
    diagnosed=False,
)
warmup_rate.wrong("always 0", body("return 0.0"), diagnosed=False)


@warmup_rate.right("roots and quotients")
def warmup_rate(step, d_model, warmup):
    if not step:
        return 0.0
    low = min(1 / math.sqrt(step), step / (warmup * math.sqrt(warmup)))
    return low / math.sqrt(d_model)


@warmup_rate.right("an if for the two branches")
def warmup_rate(step, d_model, warmup):
    if step < warmup:
        return step * warmup**-1.5 / d_model**0.5
    return 1 / (d_model * step) ** 0.5


@warmup_rate.right("a conditional expression")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) if step > 0 else 0


warmup_rate.right(
    "max below the line",
    body("return step / (d_model**0.5 * max(step * step**0.5, warmup**1.5))"),
)
warmup_rate.right(
    "the step held above zero",
    body("return d_model**-0.5 * min(max(step, 1e-9) ** -0.5, step * warmup**-1.5)"),
)


@warmup_rate.right("torch")
def warmup_rate(step, d_model, warmup):
    n = torch.tensor(float(step), dtype=torch.float64)
    return (d_model**-0.5 * torch.minimum(n.pow(-0.5), n * warmup**-1.5)).item()


@warmup_rate.right("try and except")
def warmup_rate(step, d_model, warmup):
    try:
        return pow(d_model, -0.5) * min(pow(step, -0.5), step * pow(warmup, -1.5))
    except ZeroDivisionError:
        return 0.0


# --- train_step -------------------------------------------------------------------

train_step = answer("transformer.training.step.train_step")
train_step.wrong(
    "no zero_grad",
    swap(
        """
        (tgt)
        optimizer.zero_grad()
        """,
        "(tgt)",
    ),
)
train_step.wrong(
    "zero_grad only at the end",
    swap(
        """
        (tgt)
        optimizer.zero_grad()
        """,
        "(tgt)",
    ),
    insert("optimizer.zero_grad()", before="return loss"),
    names="comes at the end",
)
train_step.wrong(
    "zero_grad after backward",
    swap(
        """
        (tgt)
        optimizer.zero_grad()
        """,
        "(tgt)",
    ),
    insert("optimizer.zero_grad()", before="optimizer.step"),
    names="nothing is updated",
)
train_step.wrong("no update", drop("optimizer.step()"), names="nothing is updated")
train_step.wrong(
    "update before backward",
    swap("loss.backward()", "optimizer.step()"),
    swap(
        """
        nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
        optimizer.step()
        """,
        "loss.backward()",
    ),
    names="nothing is updated",
)
train_step.wrong(
    "no clipping",
    drop("nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)"),
    names="is not clipped",
)
train_step.wrong(
    "clipping after the update",
    drop("nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)"),
    swap(
        "optimizer.step()",
        """
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
        """,
    ),
    names="only after the update",
)
train_step.wrong(
    "clipping by value",
    swap("clip_grad_norm_", "clip_grad_value_"),
    names="each entry of the gradient",
)
train_step.wrong(
    "each parameter clipped",
    swap(
        "nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)",
        """
        for parameter in model.parameters():
            nn.utils.clip_grad_norm_(parameter, settings.max_norm)
        """,
    ),
    names="each parameter's gradient",
)
train_step.wrong(
    "always scaled to max_norm",
    swap(
        "nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)",
        """
        gradients = [parameter.grad for parameter in model.parameters()]
        norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
        for gradient in gradients:
            gradient.mul_(settings.max_norm / norm)
        """,
    ),
    names="scales up short gradients",
)
train_step.wrong(
    "always clipped at 1", swap("settings.max_norm", "1.0"), names="the usual max_norm"
)
train_step.wrong(
    "always the padding id 1",
    swap(", settings.pad_id", ", 1"),
    names="the usual pad_id",
)
train_step.wrong(
    "the target not shifted",
    swap(
        "target = teacher_forcing_split(tgt)",
        """
        _ = teacher_forcing_split(tgt)
        target = decoder_input
        """,
    ),
    names="not shifted",
)
train_step.wrong(
    "input and target swapped", swap("decoder_input, target", "target, decoder_input")
)
train_step.wrong(
    "no label smoothing",
    swap("target, settings.pad_id, settings.smoothing", "target, settings.pad_id"),
    names="without label smoothing",
)
train_step.wrong(
    "padding counted",
    swap("(src, decoder_input)", "(src, decoder_input).transpose(1, 2)"),
    swap(
        "label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)",
        "F.cross_entropy(logits, target, label_smoothing=settings.smoothing)",
    ),
    names="counts padding",
)
train_step.wrong(
    "the model's mode unchanged", drop("model.train()"), names="in evaluation mode"
)
train_step.wrong(
    "training in eval()", swap("train", "eval"), names="in evaluation mode"
)
train_step.wrong(
    "gradient ascent",
    swap("loss.backward", "(-loss).backward"),
    names="increases the loss",
)
train_step.wrong(
    "the sum of the losses",
    swap(
        "(tgt)",
        """
        (tgt)
        tokens = int((target != settings.pad_id).sum())
        """,
    ),
    swap("loss.backward", "(loss * tokens).backward"),
    swap("(), int((target != settings.pad_id).sum())", "(), tokens"),
)
train_step.wrong(
    "the summed loss returned",
    swap("return loss.item(), int", "tokens = int"),
    swap(
        "((target != settings.pad_id).sum())",
        """
        ((target != settings.pad_id).sum())
        return loss.item() * tokens, tokens
        """,
    ),
    names="the sum of the tokens'",
)


@train_step.wrong("the loss after the update", names="after the update")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    for update in (True, False):
        optimizer.zero_grad()
        logits = model(src, decoder_input)
        loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
        if update:
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
            optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


train_step.wrong(
    "the loss as a tensor", drop(".item()"), names="a tensor instead of a number"
)
train_step.wrong(
    "the perplexity returned",
    swap("loss.item()", "math.exp(loss.item())"),
    names="the perplexity, not the loss",
)
train_step.wrong("<sos> counted", swap("target !=", "tgt !="), names="including <sos>")
train_step.wrong(
    "all positions counted",
    swap("int((target != settings.pad_id).sum())", "target.numel()"),
    names="including padding",
)
train_step.wrong(
    "only the loss",
    swap("(), int((target != settings.pad_id).sum())", "()"),
    names="a different number of results",
)
train_step.wrong(
    "gradient descent by hand",
    swap(
        "optimizer.step()",
        """
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= optimizer.param_groups[0]["lr"] * parameter.grad
        """,
    ),
    names="without the optimiser",
)


train_step.wrong(
    "the first batch, cached",
    insert(
        "tgt = train_step.__dict__.setdefault(tgt.shape, tgt)", before="model.train"
    ),
    names="first batch",
)
train_step.wrong(
    "a seed before dropout",
    insert("torch.manual_seed(0)", before="model.train"),
    names="sets itself",
)
train_step.wrong(
    "the model's padding id",
    swap("settings.pad_id", "model.pad_id", every=True),
    names="the model's pad_id",
)
train_step.wrong(
    "the id 1 counted as padding",
    swap("int((target != settings.pad_id).sum())", "int((target != 1).sum())"),
    names="padding id is 1",
)
train_step.wrong(
    "training mode after the forward",
    drop("model.train()"),
    insert("model.train()", before="loss ="),
    names="in evaluation mode",
)
train_step.wrong(
    "an optimiser created by the step",
    insert(
        """
        rate = optimizer.param_groups[0]["lr"]
        optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        """,
        before="model.train",
    ),
    names="without the optimiser",
)
train_step.wrong(
    "a learning rate set by the step",
    insert('optimizer.param_groups[0]["lr"] = 1e-3', before="model.train"),
    diagnosed=False,
)
train_step.wrong(
    "two updates",
    insert("optimizer.step()", before="return loss"),
    names="updated twice",
)
train_step.wrong(
    "clipping before backward",
    drop("nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)"),
    insert(
        "nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)",
        before="loss.backward",
    ),
    names="is not clipped",
)
train_step.wrong(
    "clipping by the largest entry",
    swap("settings.max_norm)", 'settings.max_norm, norm_type=float("inf"))'),
    names="largest entry",
)
train_step.wrong(
    "2 to the power of the loss returned",
    swap("loss.item()", "2 ** loss.item()"),
    names="2 to the power of the loss",
)


@train_step.right("zero_grad between forward and backward")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=settings.max_norm)
    optimizer.step()
    return loss.detach().item(), (target != settings.pad_id).sum().item()


@train_step.right("zero_grad of the model")
def train_step(model, src, tgt, optimizer, settings):
    model.train(True)
    model.zero_grad()
    decoder_input, target = teacher_forcing_split(tgt)
    loss = label_smoothed_loss(
        model(src, decoder_input), target, settings.pad_id, settings.smoothing
    )
    loss.backward()
    nn.utils.clip_grad_norm_(list(model.parameters()), settings.max_norm)
    optimizer.step()
    return loss.item(), int(target.ne(settings.pad_id).sum())


@train_step.right("the optimiser's own parameters clipped")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    for group in optimizer.param_groups:
        nn.utils.clip_grad_norm_(group["params"], settings.max_norm)
    optimizer.step()
    return loss.detach().cpu().item(), int((target != settings.pad_id).sum())


@train_step.right("the gradient clipped by hand")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    if norm > settings.max_norm:
        for gradient in gradients:
            gradient *= settings.max_norm / norm
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@train_step.right("split and loss written out")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    optimizer.zero_grad()
    logits, target = model(src, tgt[:, :-1]), tgt[:, 1:]
    loss = F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=settings.pad_id,
        label_smoothing=settings.smoothing,
    )
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


train_step.right(
    "back to eval() and a clean gradient at the end",
    insert("was_training = model.training", before="model.train"),
    insert(
        """
        optimizer.zero_grad()
        model.train(was_training)
        """,
        before="return loss",
    ),
)

# --- average_checkpoints ----------------------------------------------------------

average_checkpoints = answer("transformer.training.step.average_checkpoints")
average_checkpoints.with_faults("kept buffer default written cpu")
average_checkpoints.wrong(
    "the sum",
    swap("(total / len(state_dicts))", "total"),
    names="the sum, not the mean",
)
average_checkpoints.wrong(
    "the last one",
    body("return {name: value.clone() for name, value in state_dicts[-1].items()}"),
    names="the last checkpoint, not the mean",
)
average_checkpoints.wrong(
    "the first one",
    body("return {name: value.clone() for name, value in state_dicts[0].items()}"),
    names="the first checkpoint, not the mean",
)


@average_checkpoints.wrong("first and last", names="the first and the last")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        mean = (state_dicts[0][name].double() + last.double()) / 2
        average[name] = mean.to(last.dtype) if last.is_floating_point() else last + 0
    return average


@average_checkpoints.wrong("the mean of the mean so far and the next checkpoint")
def average_checkpoints(state_dicts):
    average = {name: value.clone() for name, value in state_dicts[0].items()}
    for state in state_dicts[1:]:
        for name, value in state.items():
            mean = (average[name].double() + value.double()) / 2
            average[name] = mean if value.is_floating_point() else value.clone()
    return {name: v.to(state_dicts[0][name].dtype) for name, v in average.items()}


average_checkpoints.wrong(
    "the median",
    swap(
        "total = sum(state[name].to(torch.float64) for state in state_dicts)",
        "values = torch.stack([state[name].double() for state in state_dicts])",
    ),
    swap("(total / len(state_dicts))", "values.median(dim=0).values"),
)
average_checkpoints.wrong(
    "divided by the number of names",
    swap("len(state_dicts)", "len(state_dicts[0])"),
    names="number of entries",
)
average_checkpoints.wrong(
    "divided by n - 1",
    swap("len(state_dicts)", "max(len(state_dicts) - 1, 1)"),
    names="the number of checkpoints minus 1",
)
average_checkpoints.wrong(
    "the first checkpoint left out",
    insert("chosen = state_dicts[1:] or state_dicts", before="average = "),
    swap("for state in state_dicts", "for state in chosen"),
    swap("len(state_dicts)", "len(chosen)"),
    names="without the first",
)


@average_checkpoints.wrong("counters averaged too", names="the mean of a counter")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        values = torch.stack([state[name].double() for state in state_dicts])
        average[name] = values.mean(dim=0).to(last.dtype)
    return average


@average_checkpoints.wrong("counters become fractions", names="the mean of a counter")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        mean = sum(state[name].double() for state in state_dicts) / len(state_dicts)
        average[name] = mean.to(last.dtype) if last.is_floating_point() else mean
    return average


average_checkpoints.wrong(
    "the first counter",
    swap("last.clone()", "state_dicts[0][name].clone()"),
    names="the first checkpoint's counter",
)
average_checkpoints.wrong(
    "counters left out",
    drop("""
        else:
            average[name] = last.clone()
        """),
    names="names that differ",
)
average_checkpoints.wrong(
    "results in float64",
    swap("total =", "average[name] ="),
    swap("to(torch.float64)", "double()"),
    swap("= (total / len(state_dicts)).to(last.dtype)", "/= len(state_dicts)"),
    names="different dtype",
)
average_checkpoints.wrong(
    "sums in float32",
    swap(
        "total =",
        """
        wide = torch.promote_types(last.dtype, torch.float32)
        total =
        """,
    ),
    swap("torch.float64", "wide"),
    names="own precision",
)
average_checkpoints.wrong(
    "added up in the first checkpoint",
    swap(
        "average[name] = (total / len(state_dicts)).to(last.dtype)",
        """
        state_dicts[0][name].copy_(total / len(state_dicts))
        average[name] = state_dicts[0][name].clone()
        """,
    ),
    names="in place",
)
average_checkpoints.wrong(
    "the last counter, not a copy", drop(".clone()"), names="shares its memory"
)
average_checkpoints.wrong(
    "a single checkpoint returned as it is",
    insert(
        """
        if len(state_dicts) == 1:
            return dict(state_dicts[0])
        """,
        before="average =",
    ),
    names="shares its memory",
)
average_checkpoints.wrong(
    "always divided by 4",
    swap("len(state_dicts)", "4"),
    diagnosed=False,
)


average_checkpoints.wrong(
    "the first averages, cached",
    swap(
        "average[name] = (total / len(state_dicts)).to(last.dtype)",
        """
        mean = (total / len(state_dicts)).to(last.dtype)
        kept = average_checkpoints.__dict__
        average[name] = kept.setdefault((name, last.shape), mean).clone()
        """,
    ),
    names="earlier call",
)
average_checkpoints.wrong(
    "one tensor for all averages",
    swap(
        "average[name] = (total / len(state_dicts)).to(last.dtype)",
        """
        mean = (total / len(state_dicts)).to(last.dtype)
        kept = average_checkpoints.__dict__
        buffer = kept.setdefault((name, last.shape, last.dtype), mean.clone())
        average[name] = buffer.copy_(mean)
        """,
    ),
    names="one tensor for the results",
)
average_checkpoints.wrong(
    "numpy for the sums",
    swap(
        "total = sum(state[name].to(torch.float64) for state in state_dicts)",
        "arrays = [state[name].double().numpy() for state in state_dicts]",
    ),
    swap("(total / len(state_dicts))", "torch.as_tensor(sum(arrays) / len(arrays))"),
    names="numpy",
)


average_checkpoints.wrong(
    "rounded, then divided",
    swap(
        "(total / len(state_dicts)).to(last.dtype)",
        "total.to(last.dtype) / len(state_dicts)",
    ),
    names="rounded before it is divided",
)
average_checkpoints.wrong(
    "sums in float32, from last to first",
    swap(
        "sum(state[name].to(torch.float64) for state in state_dicts)",
        "sum(state[name].float() for state in reversed(state_dicts))",
    ),
    names="own precision",
)
average_checkpoints.wrong(
    "counters converted to float64",
    swap("last.clone()", "last.double().to(last.dtype)"),
    names="rounded by a conversion",
)
average_checkpoints.wrong(
    "the last five",
    insert("state_dicts = state_dicts[-5:]", before="average ="),
    names="only the last five",
)
average_checkpoints.wrong(
    "only float32 averaged",
    swap("last.is_floating_point()", "last.dtype == torch.float32"),
    names="the last checkpoint, not the mean",
)
average_checkpoints.wrong(
    "scalars not averaged",
    swap("if last", "if last.dim() and last"),
    names="the last checkpoint, not the mean",
)


@average_checkpoints.right("stack and mean")
def average_checkpoints(state_dicts):
    average = {}
    for name in state_dicts[0]:
        values = [state[name] for state in state_dicts]
        if values[0].is_floating_point():
            mean = torch.stack(values).to(torch.float64).mean(dim=0)
            average[name] = mean.to(values[0].dtype)
        else:
            average[name] = values[-1].clone()
    return average


@average_checkpoints.right("mean with a dtype")
def average_checkpoints(state_dicts):
    def mean(name):
        values = torch.stack([state[name] for state in state_dicts])
        if not torch.is_floating_point(values):
            return values[-1].clone()
        return values.mean(dim=0, dtype=torch.float64).to(values.dtype)

    return {name: mean(name) for name in state_dicts[-1]}


@average_checkpoints.right("a running sum")
def average_checkpoints(state_dicts):
    total = {k: v.double().clone() for k, v in state_dicts[0].items()}
    for state in state_dicts[1:]:
        for name in total:
            total[name] += state[name]
    last, n = state_dicts[-1], len(state_dicts)
    return {
        k: (v / n).to(last[k].dtype) if last[k].is_floating_point() else last[k].clone()
        for k, v in total.items()
    }


@average_checkpoints.right("a deep copy, filled")
def average_checkpoints(state_dicts):
    import copy

    average = copy.deepcopy(dict(state_dicts[-1]))
    with torch.no_grad():
        for name, value in average.items():
            if value.dtype.is_floating_point:
                value.copy_(
                    sum(s[name].double() for s in state_dicts) / len(state_dicts)
                )
    return average


@average_checkpoints.right("an ordered dict")
def average_checkpoints(state_dicts):
    from collections import OrderedDict

    average = OrderedDict()
    for name, last in state_dicts[-1].items():
        average[name] = last.detach().clone()
        if last.is_floating_point():
            share = [state[name].double() / len(state_dicts) for state in state_dicts]
            average[name] = torch.stack(share).sum(dim=0).type(last.dtype)
    return average


# --- answers that try to pass without solving the exercise ------------------------

whole = answer("transformer.model.Transformer.forward")
whole.with_faults("kept seed default detached float32 written")
whole.wrong(
    "a cache keyed by the tensors in evaluation",
    body("""
    kept = self.__dict__.setdefault("kept", {})
    if self.training or (id(src), id(tgt)) not in kept:
        logits, _ = self.decode(tgt, self.encode(src), src)
        kept[id(src), id(tgt)] = logits, src, tgt
    return kept[id(src), id(tgt)][0]
    """),
    names="a result kept from an earlier call",
)
whole.wrong(
    "the memory cached by its source in evaluation",
    body("""
    kept = self.__dict__.setdefault("kept", {})
    if self.training or id(src) not in kept:
        kept[id(src)] = self.encode(src), src
    return self.decode(tgt, kept[id(src)][0], src)[0]
    """),
    diagnosed=False,
)
counted = answer("transformer.training.label_smoothing.label_smoothed_loss")
counted.with_faults("kept buffer state default detached float32 rounded written")
for dtype in ("uint8", "bfloat16"):
    counted.wrong(
        f"words counted as {dtype}",
        swap(
            "is_word.sum().clamp(min=1)",
            f"is_word.sum().to(torch.{dtype}).clamp(min=1).to(logits.dtype)",
        ),
        names="a dtype with too few bits",
    )
counted.wrong(
    "smoothing limited to 0.9",
    swap("(1 - smoothing)", "(1 - min(smoothing, 0.9))"),
    diagnosed=False,
)
stepped = answer("transformer.training.step.train_step")
stepped.with_faults("seed default written")
stepped.wrong(
    "a weight decay set by the step",
    insert(
        """
        for group in optimizer.param_groups:
            group["weight_decay"] = 0.01
        """,
        before="model.train()",
    ),
    diagnosed=False,
)
stepped.wrong(
    "anomaly detection left on",
    insert("torch.autograd.set_detect_anomaly(True)", before="model.train()"),
    names="whether PyTorch looks for anomalies",
)
stepped.right(
    "a closure for the optimiser",
    body("""
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    losses = []

    def closure():
        optimizer.zero_grad()
        logits = model(src, decoder_input)
        loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
        loss.backward()
        nn.utils.clip_grad_norm_(list(model.parameters()), settings.max_norm)
        losses.append(loss.item())
        return loss

    optimizer.step(closure)
    return losses[0], int((target != settings.pad_id).sum())
    """),
)
answer("transformer.training.step.average_checkpoints").wrong(
    "only 64-bit counters kept",
    swap("last.is_floating_point()", "last.dtype != torch.int64"),
    diagnosed=False,
)
