"""Wrong variants and right styles of unit 10, as students write them."""

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import nn

from autograder.proof.variants import right, wrong
from transformer.masks import padding_mask, target_mask

if TYPE_CHECKING:  # the student's notebook defines them: no variant may import them
    from transformer.training.step import label_smoothed_loss, teacher_forcing_split

FORWARD = "Transformer.forward"

# --- Transformer.forward: wrong ---------------------------------------------------


@wrong("both results of decode", True, FORWARD, "logits and attention weights together")
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src), src)


@wrong("a softmax on the logits", True, FORWARD, "a softmax too many")
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src), src)[0].softmax(dim=-1)


@wrong("a log-softmax on the logits", True, FORWARD, "a log-softmax too many")
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src), src)[0].log_softmax(dim=-1)


@wrong("a softmax over the positions", replaces=FORWARD)
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src), src)[0].softmax(dim=1)


@wrong("no causal mask", True, FORWARD, "no causal mask")
def forward(self, src, tgt):
    pad = self.config.pad_id
    x, _ = self.decoder(
        self.tgt_embedding(tgt),
        self.encode(src),
        padding_mask(tgt, pad),
        padding_mask(src, pad),
    )
    return self.projection(x)


@wrong("no mask on the target at all", True, FORWARD, "no mask at all")
def forward(self, src, tgt):
    src_mask = padding_mask(src, self.config.pad_id)
    x, _ = self.decoder(self.tgt_embedding(tgt), self.encode(src), None, src_mask)
    return self.projection(x)


@wrong("no mask in the cross-attention", True, FORWARD, "cross-attention has no mask")
def forward(self, src, tgt):
    tgt_mask = target_mask(tgt, self.config.pad_id)
    x, _ = self.decoder(self.tgt_embedding(tgt), self.encode(src), tgt_mask)
    return self.projection(x)


@wrong("no mask in the encoder", True, FORWARD, "encoder has no mask")
def forward(self, src, tgt):
    memory = self.encoder(self.src_embedding(src))
    return self.decode(tgt, memory, src)[0]


@wrong("no source mask anywhere", True, FORWARD, "masks no padding of the source")
def forward(self, src, tgt):
    memory = self.encoder(self.src_embedding(src))
    tgt_mask = target_mask(tgt, self.config.pad_id)
    x, _ = self.decoder(self.tgt_embedding(tgt), memory, tgt_mask)
    return self.projection(x)


@wrong("padding number 1, fixed", True, FORWARD, "counts on one configuration")
def forward(self, src, tgt):
    memory = self.encoder(self.src_embedding(src), padding_mask(src, 1))
    x = self.tgt_embedding(tgt)
    x, _ = self.decoder(x, memory, target_mask(tgt, 1), padding_mask(src, 1))
    return self.projection(x)


@wrong("the target read as the source", True, FORWARD, "reads the target as its source")
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(tgt), tgt)[0]


@wrong("source and target swapped", True, FORWARD, "source and target swapped")
def forward(self, src, tgt):
    return self.decode(src, self.encode(tgt), tgt)[0]


@wrong("the target's padding as the memory's mask", replaces=FORWARD)
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src), tgt)[0]


@wrong("no encoder", True, FORWARD, "no encoder")
def forward(self, src, tgt):
    return self.decode(tgt, self.src_embedding(src), src)[0]


@wrong("the source in the target's table", True, FORWARD, "with the target's table")
def forward(self, src, tgt):
    mask = padding_mask(src, self.config.pad_id)
    memory = self.encoder(self.tgt_embedding(src), mask)
    return self.decode(tgt, memory, src)[0]


@wrong("only the last position", True, FORWARD, "after the last word alone")
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src), src)[0][:, -1]


@wrong("the target shifted here too", True, FORWARD, "cut once more")
def forward(self, src, tgt):
    return self.decode(tgt[:, :-1], self.encode(src), src)[0]


@wrong("no projection", True, FORWARD, "without the projection")
def forward(self, src, tgt):
    pad = self.config.pad_id
    x = self.tgt_embedding(tgt)
    masks = target_mask(tgt, pad), padding_mask(src, pad)
    return self.decoder(x, self.encode(src), *masks)[0]


@wrong("argmax of the logits", True, FORWARD, "the likeliest words")
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src), src)[0].argmax(dim=-1)


@wrong("words in the second axis", True, FORWARD, "with the words in the second axis")
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src), src)[0].transpose(1, 2)


@wrong("a detached memory", True, FORWARD, "the gradient is cut off")
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src).detach(), src)[0]


@wrong("an encoder without gradients", True, FORWARD, "the gradient is cut off")
def forward(self, src, tgt):
    with torch.no_grad():
        memory = self.encode(src)
    return self.decode(tgt, memory, src)[0]


@wrong("a mean over the memory", replaces=FORWARD)
def forward(self, src, tgt):
    memory = self.encode(src)
    return self.decode(tgt, memory.mean(1, keepdim=True).expand_as(memory), src)[0]


# --- Transformer.forward: right ---------------------------------------------------


@right("an index instead of unpacking", FORWARD)
def forward(self, src, tgt):
    return self.decode(tgt, self.encode(src), src)[0]


@right("memory first, keywords", FORWARD)
def forward(self, src, tgt):
    memory = self.encode(src)
    logits, cross_attention = self.decode(tgt=tgt, memory=memory, src=src)
    return logits


@right("by its parts", FORWARD)
def forward(self, src, tgt):
    src_mask = padding_mask(src, self.config.pad_id)
    tgt_mask = target_mask(tgt, self.config.pad_id)
    memory = self.encoder(self.src_embedding(src), src_mask)
    x, _ = self.decoder(self.tgt_embedding(tgt), memory, tgt_mask, src_mask)
    return self.projection(x)


@right("the attention kept in the model", FORWARD)
def forward(self, src, tgt):
    logits, self.last_attention = self.decode(tgt, self.encode(src), src)
    return logits


@right("star unpacking", FORWARD)
def forward(self, src, tgt):
    logits, *_ = self.decode(tgt, self.encode(src), src)
    return logits


@right("contiguous, with an assertion", FORWARD)
def forward(self, src, tgt):
    memory = self.encode(src)
    assert memory.size(0) == tgt.size(0)
    return self.decode(tgt, memory, src)[0].contiguous()


# --- teacher_forcing_split: wrong -------------------------------------------------


@wrong("the target not shifted", diagnosed=True, names="the target is not shifted")
def teacher_forcing_split(tgt):
    return tgt[:, :-1], tgt[:, :-1]


@wrong("the whole sentence twice", diagnosed=True, names="the whole sentence")
def teacher_forcing_split(tgt):
    return tgt, tgt


@wrong("the target whole", diagnosed=True, names="the whole sentence")
def teacher_forcing_split(tgt):
    return tgt[:, :-1], tgt


@wrong("the input whole", diagnosed=True, names="the whole sentence")
def teacher_forcing_split(tgt):
    return tgt, tgt[:, 1:]


@wrong("swapped", diagnosed=True, names="the two are swapped")
def teacher_forcing_split(tgt):
    return tgt[:, 1:], tgt[:, :-1]


@wrong("both without <sos>", diagnosed=True, names="the input begins after <sos>")
def teacher_forcing_split(tgt):
    return tgt[:, 1:], tgt[:, 1:]


@wrong("shifted by two", diagnosed=True, names="two tokens ahead")
def teacher_forcing_split(tgt):
    return tgt[:, :-2], tgt[:, 2:]


@wrong("rolled", diagnosed=True, names="turned round by one")
def teacher_forcing_split(tgt):
    return tgt, tgt.roll(-1, dims=1)


@wrong("batch axis cut", diagnosed=True, names="of the batch")
def teacher_forcing_split(tgt):
    return tgt[:-1], tgt[1:]


@wrong("target without <eos>", diagnosed=True, names="without its first and last")
def teacher_forcing_split(tgt):
    return tgt[:, :-1], tgt[:, 1:-1]


@wrong("the target alone", diagnosed=True, names="another number of results")
def teacher_forcing_split(tgt):
    return tgt[:, 1:]


@wrong("a fixed length", diagnosed=True, names="counts on a certain batch or length")
def teacher_forcing_split(tgt):
    return tgt[:, :5], tgt[:, 1:6].view(3, 5)


@wrong("in place", diagnosed=True, names="changed in place")
def teacher_forcing_split(tgt):
    decoder_input, target = tgt[:, :-1].clone(), tgt[:, 1:].clone()
    tgt[:, 0] = 0
    return decoder_input, target


@wrong("numbers as floats", diagnosed=True, names="a fixed dtype")
def teacher_forcing_split(tgt):
    return tgt[:, :-1].float(), tgt[:, 1:]


# --- teacher_forcing_split: right -------------------------------------------------


@right("narrow")
def teacher_forcing_split(tgt):
    n = tgt.size(1) - 1
    return tgt.narrow(1, 0, n), tgt.narrow(1, 1, n)


@right("ellipsis")
def teacher_forcing_split(tgt):
    return tgt[..., :-1], tgt[..., 1:]


@right("copies, in a list")
def teacher_forcing_split(tgt):
    return [tgt[:, :-1].clone(), tgt[:, 1:].contiguous()]


@right("index_select")
def teacher_forcing_split(tgt):
    places = torch.arange(tgt.shape[1] - 1, device=tgt.device)
    return tgt.index_select(1, places), tgt.index_select(1, places + 1)


@right("a loop over sentences")
def teacher_forcing_split(tgt):
    return torch.stack([row[:-1] for row in tgt]), torch.stack([r[1:] for r in tgt])


@right("unfold")
def teacher_forcing_split(tgt):
    return tuple(tgt.unfold(1, 2, 1).unbind(dim=-1))


@right("split")
def teacher_forcing_split(tgt):
    n = tgt.size(1) - 1
    return tgt.split([n, 1], dim=1)[0], tgt.split([1, n], dim=1)[1]


# --- label_smoothed_loss: wrong ---------------------------------------------------


@wrong("padding counted", diagnosed=True, names="padding counted")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(logits.transpose(1, 2), target, label_smoothing=smoothing)


@wrong("no log-sum-exp", diagnosed=True, names="log-sum-exp is missing")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    return -logits[is_word].gather(-1, target[is_word].unsqueeze(-1)).mean()


@wrong("softmax before cross-entropy", diagnosed=True, names="a softmax before")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.softmax(dim=-1).transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
    )


@wrong("mean of sentence means", diagnosed=True, names="the sentences' means")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    each = F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
        reduction="none",
    )
    return (each.sum(dim=1) / (target != pad_id).sum(dim=1).clamp(min=1)).mean()


@wrong("the sum", diagnosed=True, names="a sum over the tokens")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
        reduction="sum",
    )


@wrong("zeros at padding, then the mean", diagnosed=True, names="by all positions")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    each = F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
        reduction="none",
    )
    return each.mean()


@wrong("divided by the sentences", diagnosed=True, names="number of sentences")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    total = F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / logits.size(0)


@wrong("ignore_index 0", diagnosed=True, names="<unk>, number 0, left out")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=0, label_smoothing=smoothing
    )


@wrong("ignore_index 1", diagnosed=True, names="1 taken for the padding's number")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    total = F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=1,
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / (target != 1).sum().clamp(min=1)


@wrong("<eos> left out", diagnosed=True, names="without <eos>")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    kept = (target != pad_id) & (target != 3)
    total = F.cross_entropy(
        logits[kept], target[kept], label_smoothing=smoothing, reduction="sum"
    )
    return total / kept.sum().clamp(min=1)


@wrong("no label smoothing", diagnosed=True, names="without label smoothing")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    total = F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id, reduction="sum"
    )
    return total / (target != pad_id).sum().clamp(min=1)


@wrong("spread over the other words", diagnosed=True, names="other words alone")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    label = torch.full_like(logits, smoothing / (logits.size(-1) - 1))
    label.scatter_(-1, target.unsqueeze(-1), 1 - smoothing)
    each = -(label * logits.log_softmax(dim=-1)).sum(dim=-1)
    is_word = target != pad_id
    return each[is_word].sum() / is_word.sum().clamp(min=1)


@wrong("target and padding left out", diagnosed=True, names="target and padding")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    label = torch.full_like(logits, smoothing / (logits.size(-1) - 2))
    label.scatter_(-1, target.unsqueeze(-1), 1 - smoothing)
    label[..., pad_id] = 0.0
    each = -(label * logits.log_softmax(dim=-1)).sum(dim=-1)
    is_word = target != pad_id
    return each[is_word].sum() / is_word.sum().clamp(min=1)


@wrong("smoothing added", diagnosed=True, names="added, not mixed in")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    log_probs = logits[is_word].log_softmax(dim=-1)
    each = F.nll_loss(log_probs, target[is_word], reduction="none")
    each = each - smoothing * log_probs.mean(dim=-1)
    return each.sum() / is_word.sum().clamp(min=1)


@wrong("target and smoothing exchanged", diagnosed=True, names="exchanged")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    log_probs = logits[is_word].log_softmax(dim=-1)
    each = smoothing * F.nll_loss(log_probs, target[is_word], reduction="none")
    each = each - (1 - smoothing) * log_probs.mean(dim=-1)
    return each.sum() / is_word.sum().clamp(min=1)


@wrong("smoothing summed over the words", diagnosed=True, names="summed over the words")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    log_probs = logits[is_word].log_softmax(dim=-1)
    each = (1 - smoothing) * F.nll_loss(log_probs, target[is_word], reduction="none")
    each = each - smoothing * log_probs.sum(dim=-1)
    return each.sum() / is_word.sum().clamp(min=1)


@wrong("smoothing at padding too", diagnosed=True, names="smoothing whose padding")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    log_probs = logits.log_softmax(dim=-1)
    plain = F.nll_loss(log_probs.transpose(1, 2), target, ignore_index=pad_id)
    return (1 - smoothing) * plain - smoothing * log_probs.mean()


@wrong("the label's rest forgotten", diagnosed=True, names="the rest is missing")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return (1 - smoothing) * F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id
    )


@wrong("the wrong sign", diagnosed=True, names="wrong sign")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return -F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id, label_smoothing=smoothing
    )


@wrong("bits", diagnosed=True, names="base 2")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    log_probs = logits[is_word].softmax(dim=-1).log2()
    each = (1 - smoothing) * F.nll_loss(log_probs, target[is_word], reduction="none")
    each = each - smoothing * log_probs.mean(dim=-1)
    return each.sum() / is_word.sum().clamp(min=1)


@wrong("no logarithm", diagnosed=True, names="without the logarithm")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    probs = logits[is_word].softmax(dim=-1)
    return -probs.gather(-1, target[is_word].unsqueeze(-1)).mean()


@wrong("softmax over positions", diagnosed=True, names="runs over the positions")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    log_probs = logits.log_softmax(dim=1)
    plain = F.nll_loss(log_probs.transpose(1, 2), target, ignore_index=pad_id)
    rest = -log_probs[target != pad_id].mean()
    return (1 - smoothing) * plain + smoothing * rest


@wrong("the perplexity", diagnosed=True, names="the perplexity, not the loss")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id, label_smoothing=smoothing
    ).exp()


@wrong("one number a token", diagnosed=True, names="the loss of each token")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
        reduction="none",
    )


@wrong("the real tokens' losses", diagnosed=True, names="losses of the real tokens")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    return F.cross_entropy(
        logits[is_word], target[is_word], label_smoothing=smoothing, reduction="none"
    )


@wrong("log of softmax", diagnosed=True, names="overflows")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    log_probs = logits[is_word].softmax(dim=-1).log()
    each = (1 - smoothing) * F.nll_loss(log_probs, target[is_word], reduction="none")
    each = each - smoothing * log_probs.mean(dim=-1)
    return each.sum() / is_word.sum().clamp(min=1)


@wrong("log of a sum of exponentials", diagnosed=True, names="overflows")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    log_probs = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    picked = -log_probs.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    each = (1 - smoothing) * picked - smoothing * log_probs.mean(dim=-1)
    return each[is_word].sum() / is_word.sum().clamp(min=1)


@wrong("division by zero", diagnosed=True, names="division by zero")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad_id, label_smoothing=smoothing
    )


@wrong("a number without gradient", diagnosed=True, names="the gradient is cut off")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    total = F.cross_entropy(
        logits[is_word].detach(),
        target[is_word],
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / is_word.sum().clamp(min=1)


@wrong("in place", diagnosed=True, names="changed in place")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    total = F.cross_entropy(
        logits.transpose(1, 2),
        target.masked_fill_(~is_word, -100),
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / is_word.sum().clamp(min=1)


@wrong("view of the logits", diagnosed=True, names="one piece of memory")
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


@wrong("always float32", diagnosed=True, names="a fixed dtype")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    is_word = target != pad_id
    total = F.cross_entropy(
        logits[is_word].float(),
        target[is_word],
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / is_word.sum().clamp(min=1)


# --- label_smoothed_loss: right ---------------------------------------------------


@right("cross_entropy, transposed")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    total = F.cross_entropy(
        logits.transpose(1, 2),
        target,
        ignore_index=pad_id,
        label_smoothing=smoothing,
        reduction="sum",
    )
    return total / (target != pad_id).sum().clamp(min=1)


@right("cross_entropy, flattened, with an if")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    flat_target = target.reshape(-1)
    if bool((flat_target == pad_id).all()):
        return logits.sum() * 0.0
    flat_logits = logits.reshape(flat_target.numel(), -1)
    return F.cross_entropy(
        flat_logits, flat_target, ignore_index=pad_id, label_smoothing=smoothing
    )


@right("nn.CrossEntropyLoss")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    criterion = nn.CrossEntropyLoss(
        ignore_index=pad_id, label_smoothing=smoothing, reduction="none"
    )
    each = criterion(logits.permute(0, 2, 1), target)
    return each.sum() / max(int((target != pad_id).sum()), 1)


@right("nll_loss and a mask of floats")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    mask = (target != pad_id).to(logits.dtype)
    log_probs = torch.log_softmax(logits, dim=-1)
    plain = F.nll_loss(log_probs.transpose(1, 2), target, reduction="none")
    each = (1 - smoothing) * plain + smoothing * -log_probs.mean(dim=-1)
    return (each * mask).sum() / mask.sum().clamp(min=1.0)


@right("logsumexp and gather")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    score = logits.gather(-1, target[..., None])[..., 0]
    label = (1 - smoothing) * score + smoothing * logits.mean(dim=-1)
    each = logits.logsumexp(dim=-1) - label
    kept = target.ne(pad_id)
    return torch.where(kept, each, 0.0).sum() / kept.sum().clamp(min=1)


@right("a smoothed label")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    words = logits.shape[-1]
    one_hot = F.one_hot(target, words).to(logits.dtype)
    label = one_hot * (1 - smoothing) + smoothing / words
    each = -(label * F.log_softmax(logits, dim=-1)).sum(dim=-1)
    is_word = target != pad_id
    return each[is_word].sum() / is_word.sum().clamp(min=1)


@right("a loop over sentences")
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


@right("a hand-written, shifted softmax")
def label_smoothed_loss(logits, target, pad_id, smoothing=0.0):
    z = logits - logits.amax(dim=-1, keepdim=True)
    log_probs = z - z.exp().sum(dim=-1, keepdim=True).log()
    picked = torch.take_along_dim(log_probs, target.unsqueeze(-1), dim=-1).squeeze(-1)
    each = -((1.0 - smoothing) * picked + smoothing * log_probs.mean(dim=-1))
    is_word = target != pad_id
    return (each * is_word).sum() / (is_word.sum() + (is_word.sum() == 0))


# --- warmup_rate: wrong -----------------------------------------------------------


@wrong("max for min", diagnosed=True, names="max where min belongs")
def warmup_rate(step, d_model, warmup):
    step = max(step, 1e-9)
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


@wrong("only the rise", diagnosed=True, names="only rises")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * step * warmup**-1.5


@wrong("only the fall", diagnosed=True, names="only falls")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * step**-0.5 if step else 0.0


@wrong("division by zero at step 0", diagnosed=True, names="division by zero")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@wrong("step 0 counts as 1", diagnosed=True, names="the rate of step 1")
def warmup_rate(step, d_model, warmup):
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@wrong("infinite at step 0", diagnosed=True, names="division by zero")
def warmup_rate(step, d_model, warmup):
    if step == 0:
        return math.inf
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@wrong("no d_model", diagnosed=True, names="without d_model")
def warmup_rate(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5) if step else 0.0


@wrong("times the root of d_model", diagnosed=True, names="multiplied by the root")
def warmup_rate(step, d_model, warmup):
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5) if step else 0.0


@wrong("divided by d_model", diagnosed=True, names="divided by d_model")
def warmup_rate(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5) / d_model if step else 0.0


@wrong("warmup to the power -0.5", diagnosed=True, names="wrong power of warmup")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5) if step else 0.0


@wrong("step over warmup", diagnosed=True, names="divided by warmup alone")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step / warmup) if step else 0.0


@wrong("falls with the step", diagnosed=True, names="not with its root")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-1.0, step * warmup**-1.5) if step else 0.0


@wrong("constant after the warm-up", diagnosed=True, names="stays at its highest")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * min(warmup**-0.5, step * warmup**-1.5)


@wrong("one step ahead", diagnosed=True, names="one step ahead")
def warmup_rate(step, d_model, warmup):
    step = step + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@wrong("one step behind", diagnosed=True, names="one step behind")
def warmup_rate(step, d_model, warmup):
    if step < 2:
        return 0.0
    return d_model**-0.5 * min((step - 1) ** -0.5, (step - 1) * warmup**-1.5)


@wrong("signs of the exponents lost", diagnosed=True, names="turned round")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**0.5, step * warmup**1.5)


@wrong("the paper's 512 and 4000", diagnosed=False)
def warmup_rate(step, d_model, warmup):
    return 512**-0.5 * min(step**-0.5, step * 4000**-1.5) if step else 0.0


# --- warmup_rate: right -----------------------------------------------------------


@right("roots and quotients")
def warmup_rate(step, d_model, warmup):
    if not step:
        return 0.0
    low = min(1 / math.sqrt(step), step / (warmup * math.sqrt(warmup)))
    return low / math.sqrt(d_model)


@right("an if for the two branches")
def warmup_rate(step, d_model, warmup):
    if step < warmup:
        return step * warmup**-1.5 / d_model**0.5
    return 1 / (d_model * step) ** 0.5


@right("a conditional expression")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) if step > 0 else 0


@right("max below the line")
def warmup_rate(step, d_model, warmup):
    return step / (d_model**0.5 * max(step * step**0.5, warmup**1.5))


@right("the step held above zero")
def warmup_rate(step, d_model, warmup):
    return d_model**-0.5 * min(max(step, 1e-9) ** -0.5, step * warmup**-1.5)


@right("torch")
def warmup_rate(step, d_model, warmup):
    n = torch.tensor(float(step), dtype=torch.float64)
    return (d_model**-0.5 * torch.minimum(n.pow(-0.5), n * warmup**-1.5)).item()


@right("try and except")
def warmup_rate(step, d_model, warmup):
    try:
        return pow(d_model, -0.5) * min(pow(step, -0.5), step * pow(warmup, -1.5))
    except ZeroDivisionError:
        return 0.0


# --- train_step: wrong ------------------------------------------------------------


@wrong("no zero_grad", diagnosed=True, names="no zero_grad")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("zero_grad at the end alone", diagnosed=True, names="comes at the end")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("zero_grad after backward", diagnosed=True, names="nothing is updated")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.zero_grad()
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("no update", diagnosed=True, names="nothing is updated")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("update before backward", diagnosed=True, names="nothing is updated")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    optimizer.step()
    loss.backward()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("no clipping", diagnosed=True, names="is not cut")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("clipping after the update", diagnosed=True, names="is not cut")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("clipping by value", diagnosed=True, names="each number of the gradient")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("each parameter clipped", diagnosed=True, names="each parameter's gradient")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    for parameter in model.parameters():
        nn.utils.clip_grad_norm_(parameter, settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("always scaled to max_norm", diagnosed=True, names="lengthens a short gradient")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    for gradient in gradients:
        gradient.mul_(settings.max_norm / norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("clipped at 1 always", diagnosed=True, names="the usual max_norm")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("padding number 1 always", diagnosed=True, names="the usual pad_id")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, 1, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("the target not shifted", diagnosed=True, names="not shifted")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, _ = teacher_forcing_split(tgt)
    target = decoder_input
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("input and target swapped", diagnosed=True, names="input and target swapped")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    target, decoder_input = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("no label smoothing", diagnosed=True, names="without label smoothing")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    loss = label_smoothed_loss(model(src, decoder_input), target, settings.pad_id)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("padding counted", diagnosed=True, names="counts padding")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input).transpose(1, 2)
    loss = F.cross_entropy(logits, target, label_smoothing=settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("the mode left as it is", diagnosed=True, names="in evaluation mode")
def train_step(model, src, tgt, optimizer, settings):
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("training in eval()", diagnosed=True, names="in evaluation mode")
def train_step(model, src, tgt, optimizer, settings):
    model.eval()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("uphill", diagnosed=True, names="uphill")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    (-loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())


@wrong("the sum of the losses", diagnosed=True, names="the sum of the losses")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    tokens = int((target != settings.pad_id).sum())
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    (loss * tokens).backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), tokens


@wrong("the summed loss returned", diagnosed=True, names="the sum of the tokens'")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    tokens = int((target != settings.pad_id).sum())
    return loss.item() * tokens, tokens


@wrong("the loss after the update", diagnosed=True, names="after the update")
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


@wrong("the loss as a tensor", diagnosed=True, names="a tensor where a number belongs")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss, int((target != settings.pad_id).sum())


@wrong("the perplexity returned", diagnosed=True, names="the perplexity, not the loss")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return math.exp(loss.item()), int((target != settings.pad_id).sum())


@wrong("<sos> counted", diagnosed=True, names="<sos> counted")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((tgt != settings.pad_id).sum())


@wrong("all positions counted", diagnosed=True, names="padding counted")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), target.numel()


@wrong("the loss alone", diagnosed=True, names="another number of results")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item()


@wrong("gradient descent by hand", diagnosed=True, names="without the optimiser")
def train_step(model, src, tgt, optimizer, settings):
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= optimizer.param_groups[0]["lr"] * parameter.grad
    return loss.item(), int((target != settings.pad_id).sum())


# --- train_step: right ------------------------------------------------------------


@right("zero_grad between forward and backward")
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


@right("zero_grad of the model")
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


@right("the optimiser's own parameters clipped")
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


@right("the gradient cut by hand")
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


@right("split and loss written out")
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


@right("back to eval() and a clean gradient at the end")
def train_step(model, src, tgt, optimizer, settings):
    was_training = model.training
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    optimizer.zero_grad()
    model.train(was_training)
    return loss.item(), int((target != settings.pad_id).sum())


# --- average_checkpoints: wrong ---------------------------------------------------


@wrong("the sum", diagnosed=True, names="the sum, not the mean")
def average_checkpoints(state_dicts):
    average = {k: v.clone() for k, v in state_dicts[-1].items()}
    for name, value in average.items():
        if value.is_floating_point():
            total = sum(state[name].double() for state in state_dicts)
            average[name] = total.to(value.dtype)
    return average


@wrong("the last one", diagnosed=True, names="the last checkpoint, not the mean")
def average_checkpoints(state_dicts):
    return {name: value.clone() for name, value in state_dicts[-1].items()}


@wrong("the first one", diagnosed=True, names="the first checkpoint, not the mean")
def average_checkpoints(state_dicts):
    return {name: value.clone() for name, value in state_dicts[0].items()}


@wrong("first and last", diagnosed=True, names="the first and the last")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        mean = (state_dicts[0][name].double() + last.double()) / 2
        average[name] = mean.to(last.dtype) if last.is_floating_point() else last + 0
    return average


@wrong("halves of halves", diagnosed=True, names="halves of halves")
def average_checkpoints(state_dicts):
    average = {name: value.clone() for name, value in state_dicts[0].items()}
    for state in state_dicts[1:]:
        for name, value in state.items():
            mean = (average[name].double() + value.double()) / 2
            average[name] = mean if value.is_floating_point() else value.clone()
    return {name: v.to(state_dicts[0][name].dtype) for name, v in average.items()}


@wrong("the median", diagnosed=True, names="the median")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            values = torch.stack([state[name].double() for state in state_dicts])
            average[name] = values.median(dim=0).values.to(last.dtype)
        else:
            average[name] = last.clone()
    return average


@wrong("divided by the number of names", diagnosed=True, names="number of entries")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            total = sum(state[name].double() for state in state_dicts)
            average[name] = (total / len(state_dicts[0])).to(last.dtype)
        else:
            average[name] = last.clone()
    return average


@wrong("divided by n - 1", diagnosed=True, names="one less")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            total = sum(state[name].double() for state in state_dicts)
            average[name] = (total / max(len(state_dicts) - 1, 1)).to(last.dtype)
        else:
            average[name] = last.clone()
    return average


@wrong("the first checkpoint left out", diagnosed=True, names="without the first")
def average_checkpoints(state_dicts):
    average, chosen = {}, state_dicts[1:] or state_dicts
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            mean = sum(state[name].double() for state in chosen) / len(chosen)
            average[name] = mean.to(last.dtype)
        else:
            average[name] = last.clone()
    return average


@wrong("counters averaged too", diagnosed=True, names="the mean of a counter")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        values = torch.stack([state[name].double() for state in state_dicts])
        average[name] = values.mean(dim=0).to(last.dtype)
    return average


@wrong("counters become fractions", diagnosed=True, names="the mean of a counter")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        mean = sum(state[name].double() for state in state_dicts) / len(state_dicts)
        average[name] = mean.to(last.dtype) if last.is_floating_point() else mean
    return average


@wrong("the first counter", diagnosed=True, names="the first checkpoint's counter")
def average_checkpoints(state_dicts):
    average = {}
    for name, first in state_dicts[0].items():
        if first.is_floating_point():
            mean = sum(state[name].double() for state in state_dicts) / len(state_dicts)
            average[name] = mean.to(first.dtype)
        else:
            average[name] = first.clone()
    return average


@wrong("counters left out", diagnosed=True, names="other names")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            mean = sum(state[name].double() for state in state_dicts) / len(state_dicts)
            average[name] = mean.to(last.dtype)
    return average


@wrong("results in float64", diagnosed=True, names="another dtype")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            average[name] = sum(s[name].double() for s in state_dicts)
            average[name] /= len(state_dicts)
        else:
            average[name] = last.clone()
    return average


@wrong("sums in float32", diagnosed=True, names="own precision")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            wide = torch.promote_types(last.dtype, torch.float32)
            total = sum(state[name].to(wide) for state in state_dicts)
            average[name] = (total / len(state_dicts)).to(last.dtype)
        else:
            average[name] = last.clone()
    return average


@wrong("added up in the first checkpoint", diagnosed=True, names="in place")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            total = sum(state[name].double() for state in state_dicts)
            state_dicts[0][name].copy_(total / len(state_dicts))
            average[name] = state_dicts[0][name].clone()
        else:
            average[name] = last.clone()
    return average


@wrong("the last counter itself", diagnosed=True, names="shares its memory")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            total = sum(state[name].double() for state in state_dicts)
            average[name] = (total / len(state_dicts)).to(last.dtype)
        else:
            average[name] = last
    return average


@wrong("a single checkpoint given back", diagnosed=True, names="shares its memory")
def average_checkpoints(state_dicts):
    if len(state_dicts) == 1:
        return dict(state_dicts[0])
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            total = sum(state[name].double() for state in state_dicts)
            average[name] = (total / len(state_dicts)).to(last.dtype)
        else:
            average[name] = last.clone()
    return average


@wrong("always divided by 4", diagnosed=True, names="counts on several checkpoints")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            total = sum(state[name].double() for state in state_dicts)
            average[name] = (total / 4).to(last.dtype)
        else:
            average[name] = last.clone()
    return average


# --- average_checkpoints: right ---------------------------------------------------


@right("stack and mean")
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


@right("mean with a dtype")
def average_checkpoints(state_dicts):
    def mean(name):
        values = torch.stack([state[name] for state in state_dicts])
        if not torch.is_floating_point(values):
            return values[-1].clone()
        return values.mean(dim=0, dtype=torch.float64).to(values.dtype)

    return {name: mean(name) for name in state_dicts[-1]}


@right("a running sum")
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


@right("a deep copy, filled")
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


@right("an ordered dict")
def average_checkpoints(state_dicts):
    from collections import OrderedDict

    average = OrderedDict()
    for name, last in state_dicts[-1].items():
        average[name] = last.detach().clone()
        if last.is_floating_point():
            share = [state[name].double() / len(state_dicts) for state in state_dicts]
            average[name] = torch.stack(share).sum(dim=0).type(last.dtype)
    return average


@right("numpy for the sums")
def average_checkpoints(state_dicts):
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            arrays = [state[name].double().numpy() for state in state_dicts]
            average[name] = torch.as_tensor(sum(arrays) / len(arrays)).to(last.dtype)
        else:
            average[name] = last.clone()
    return average
