"""Wrong variants and right styles of unit 13, as students write them."""

import bisect
import contextlib
import math

import numpy as np
import torch
import torch.nn.functional as F

from autograder.proof.variants import right, wrong
from transformer.model import evaluating
from transformer.training.step import perplexity, teacher_forcing_split
from transformer.translation.bleu import corpus_bleu
from transformer.translation.ngrams import closest_length, count_ngrams

# --- sentence_losses: wrong --------------------------------------------------------


@wrong("validation in train() mode", diagnosed=True, names="train() mode")
def sentence_losses(model, batches, pad_id=1):
    was_training = model.training
    model.train()
    rows = []
    with torch.no_grad():
        for batch in batches:
            logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
            target = batch.tgt[:, 1:]
            losses = F.cross_entropy(
                logits, target, ignore_index=pad_id, reduction="none"
            ).sum(1)
            counts = (target != pad_id).sum(1)
            rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    model.train(was_training)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("the model stays in the mode it is in", diagnosed=True, names="train() mode")
def sentence_losses(model, batches, pad_id=1):
    rows = []
    with torch.no_grad():
        for batch in batches:
            logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
            target = batch.tgt[:, 1:]
            losses = F.cross_entropy(
                logits, target, ignore_index=pad_id, reduction="none"
            ).sum(1)
            counts = (target != pad_id).sum(1)
            rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("the model is left in eval() mode", diagnosed=True, names="left in another mode")
def sentence_losses(model, batches, pad_id=1):
    model.eval()
    rows = []
    with torch.no_grad():
        for batch in batches:
            logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
            target = batch.tgt[:, 1:]
            losses = F.cross_entropy(
                logits, target, ignore_index=pad_id, reduction="none"
            ).sum(1)
            counts = (target != pad_id).sum(1)
            rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong(
    "the model is left in train() mode", diagnosed=True, names="left in another mode"
)
def sentence_losses(model, batches, pad_id=1):
    model.eval()
    rows = []
    with torch.no_grad():
        for batch in batches:
            logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
            target = batch.tgt[:, 1:]
            losses = F.cross_entropy(
                logits, target, ignore_index=pad_id, reduction="none"
            ).sum(1)
            counts = (target != pad_id).sum(1)
            rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    model.train()
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("padding is counted in the loss", diagnosed=True, names="count padding")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        losses = F.cross_entropy(logits, target, reduction="none").sum(1)
        counts = (target != pad_id).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("padding is counted as tokens", diagnosed=True, names="counts with padding")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        losses = F.cross_entropy(
            logits, target, ignore_index=pad_id, reduction="none"
        ).sum(1)
        counts = [target.size(1)] * len(target)
        rows += zip(batch.indices, losses.tolist(), counts, strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("<sos> is counted", diagnosed=True, names="counts with <sos>")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        losses = F.cross_entropy(
            logits, target, ignore_index=pad_id, reduction="none"
        ).sum(1)
        counts = (batch.tgt != pad_id).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("the order of the batches", diagnosed=True, names="batches' order")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    losses, counts = [], []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        each = F.cross_entropy(logits, target, ignore_index=pad_id, reduction="none")
        losses.append(each.sum(1))
        counts.append((target != pad_id).sum(1))
    return torch.cat(losses), torch.cat(counts)


@wrong("sorted by the permutation itself, not its inverse")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    losses, counts, places = [], [], []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        each = F.cross_entropy(logits, target, ignore_index=pad_id, reduction="none")
        losses.append(each.sum(1))
        counts.append((target != pad_id).sum(1))
        places += batch.indices
    return torch.cat(losses)[places], torch.cat(counts)[places]


@wrong("the target is not shifted", diagnosed=True, names="not shifted")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        tgt = batch.tgt[:, :-1]
        logits = model(batch.src, tgt).transpose(1, 2)
        losses = F.cross_entropy(
            logits, tgt, ignore_index=pad_id, reduction="none"
        ).sum(1)
        counts = (batch.tgt[:, 1:] != pad_id).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong(
    "the model reads what it must predict",
    diagnosed=True,
    names="reads the word it must predict",
)
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        target = batch.tgt[:, 1:]
        logits = model(batch.src, target).transpose(1, 2)
        losses = F.cross_entropy(
            logits, target, ignore_index=pad_id, reduction="none"
        ).sum(1)
        counts = (target != pad_id).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("the mean of each sentence", diagnosed=True, names="not their sum")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        each = F.cross_entropy(logits, target, ignore_index=pad_id, reduction="none")
        counts = (target != pad_id).sum(1)
        losses = each.sum(1) / counts
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("the mean over padded positions", diagnosed=True, names="padded length")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        each = F.cross_entropy(logits, target, ignore_index=pad_id, reduction="none")
        counts = (target != pad_id).sum(1)
        rows += zip(batch.indices, each.mean(1).tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong(
    "the batch's mean for each", diagnosed=True, names="mean loss of the whole batch"
)
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        loss = F.cross_entropy(logits, target, ignore_index=pad_id)
        counts = (target != pad_id).sum(1)
        rows += zip(
            batch.indices, (loss * counts).tolist(), counts.tolist(), strict=False
        )
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("softmax before the cross-entropy", diagnosed=True, names="second softmax")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).softmax(-1).transpose(1, 2)
        target = batch.tgt[:, 1:]
        losses = F.cross_entropy(
            logits, target, ignore_index=pad_id, reduction="none"
        ).sum(1)
        counts = (target != pad_id).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong(
    "the loss of <eos> is left out", diagnosed=True, names="without the one of <eos>"
)
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        each = F.cross_entropy(logits, target, reduction="none")
        kept = (target != pad_id) & (target != 3)
        losses = (each * kept).sum(1)
        rows += zip(batch.indices, losses.tolist(), kept.sum(1).tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("the loss in bits", diagnosed=True, names="bits")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        log_p = model(batch.src, batch.tgt[:, :-1]).log_softmax(-1) / math.log(2)
        target = batch.tgt[:, 1:]
        each = -log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
        kept = target != pad_id
        rows += zip(
            batch.indices,
            (each * kept).sum(1).tolist(),
            kept.sum(1).tolist(),
            strict=False,
        )
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("the log-probability without the minus", diagnosed=True, names="its negative")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        log_p = model(batch.src, batch.tgt[:, :-1]).log_softmax(-1)
        target = batch.tgt[:, 1:]
        each = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
        kept = target != pad_id
        rows += zip(
            batch.indices,
            (each * kept).sum(1).tolist(),
            kept.sum(1).tolist(),
            strict=False,
        )
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("padding is always number 1", diagnosed=True, names="another token than pad_id")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        losses = F.cross_entropy(logits, target, ignore_index=1, reduction="none").sum(
            1
        )
        counts = (target != 1).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("the perplexity of each sentence", diagnosed=True, names="perplexity of each")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        each = F.cross_entropy(logits, target, ignore_index=pad_id, reduction="none")
        counts = (target != pad_id).sum(1)
        losses = (each.sum(1) / counts).exp()
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("with gradients", diagnosed=True, names="measured with gradients")
def sentence_losses(model, batches, pad_id=1):
    was_training = model.training
    model.eval()
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        losses = F.cross_entropy(
            logits, target, ignore_index=pad_id, reduction="none"
        ).sum(1)
        counts = (target != pad_id).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    model.train(was_training)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@wrong("zeros for all", diagnosed=True, names="losses without a model")
def sentence_losses(model, batches, pad_id=1):
    n = sum(len(batch.indices) for batch in batches)
    return torch.zeros(n), torch.zeros(n, dtype=torch.long)


# --- sentence_losses: right --------------------------------------------------------


@right("the decorator of unit 11, and a dictionary")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    losses, counts = {}, {}
    for batch in batches:
        read, target = teacher_forcing_split(batch.tgt)
        logits = model(batch.src, read)
        each = F.cross_entropy(
            logits.transpose(1, 2), target, ignore_index=pad_id, reduction="none"
        )
        for row, place in enumerate(batch.indices):
            losses[place] = each[row].sum().cpu()
            counts[place] = (target[row] != pad_id).sum().cpu()
    order = range(len(losses))
    return (
        torch.stack([losses[i] for i in order]),
        torch.stack([counts[i] for i in order]),
    )


@right("gather on a log-softmax, argsort at the end")
def sentence_losses(model, batches, pad_id=1):
    mode = model.training
    model.eval()
    losses, counts, places = [], [], []
    for batch in batches:
        with torch.inference_mode():
            log_p = model(batch.src, batch.tgt[:, :-1]).log_softmax(dim=-1)
            target = batch.tgt[:, 1:]
            each = -log_p.gather(-1, target[..., None])[..., 0]
            kept = target != pad_id
            losses.append((each * kept).sum(1).cpu())
            counts.append(kept.sum(1).cpu())
        places.extend(batch.indices)
    order = torch.tensor(places).argsort()
    model.train(mode)
    return torch.cat(losses)[order], torch.cat(counts)[order]


@right("every sentence by itself, without its padding")
def sentence_losses(model, batches, pad_id=1):
    mode = model.training
    model.train(False)
    found = {}
    try:
        with torch.no_grad():
            for batch in batches:
                rows = zip(batch.indices, batch.src, batch.tgt, strict=False)
                for place, src, tgt in rows:
                    src, tgt = src[src != pad_id], tgt[tgt != pad_id]
                    logits = model(src[None], tgt[None, :-1])[0]
                    loss = F.cross_entropy(logits, tgt[1:], reduction="sum")
                    found[place] = (loss.item(), len(tgt) - 1)
    finally:
        model.train(mode)
    rows = [found[place] for place in sorted(found)]
    return torch.tensor([r[0] for r in rows]), torch.tensor([r[1] for r in rows])


@right("encode and decode, logsumexp, written into place")
def sentence_losses(model, batches, pad_id=1):
    mode = model.training
    model.eval()
    batches = list(batches)
    n = sum(len(batch.indices) for batch in batches)
    losses, counts = torch.zeros(n), torch.zeros(n, dtype=torch.long)
    with torch.no_grad():
        for batch in batches:
            memory = model.encode(batch.src)
            logits, _ = model.decode(batch.tgt[:, :-1], memory, batch.src)
            target = batch.tgt[:, 1:]
            picked = logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
            each = logits.logsumexp(-1) - picked
            each = torch.where(target == pad_id, torch.zeros_like(each), each)
            places = list(batch.indices)
            losses[places] = each.sum(1).cpu()
            counts[places] = target.ne(pad_id).sum(1).cpu()
    if mode:
        model.train()
    return losses, counts


@right("the whole target goes in, and the last logits are thrown away")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt)[:, :-1]
        target = batch.tgt[:, 1:]
        flat = F.nll_loss(
            F.log_softmax(logits, -1).flatten(0, 1),
            target.flatten(),
            ignore_index=pad_id,
            reduction="none",
        )
        losses = flat.view(target.shape).sum(-1)
        counts = (target != pad_id).sum(-1)
        for place, loss, count in zip(batch.indices, losses, counts, strict=False):
            rows.append((place, loss.item(), count.item()))
    rows.sort()
    return (
        torch.tensor([loss for _, loss, _ in rows], dtype=torch.float64),
        torch.tensor([count for _, _, count in rows]),
    )


@right("einsum with one-hot targets, an exit stack for the mode")
def sentence_losses(model, batches, pad_id=1):
    with contextlib.ExitStack() as stack:
        stack.callback(model.train, model.training)
        stack.enter_context(torch.no_grad())
        model.eval()
        losses, counts = {}, {}
        for batch in batches:
            target = batch.tgt[:, 1:]
            log_p = model(batch.src, batch.tgt[:, :-1]).log_softmax(-1)
            hot = F.one_hot(target, log_p.size(-1)).float()
            hot = hot * (target != pad_id).float().unsqueeze(-1)
            each = -torch.einsum("btv,btv->b", log_p, hot)
            losses.update(zip(batch.indices, each.tolist(), strict=False))
            counts.update(
                zip(batch.indices, hot.sum((1, 2)).long().tolist(), strict=False)
            )
    return (
        torch.tensor([losses[i] for i in sorted(losses)]),
        torch.tensor([counts[i] for i in sorted(counts)]),
    )


@right("gradients switched off and on again")
def sentence_losses(model, batches, pad_id=1):
    mode, grad = model.training, torch.is_grad_enabled()
    model.eval()
    torch.set_grad_enabled(False)
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        losses = F.cross_entropy(
            logits, target, ignore_index=pad_id, reduction="none"
        ).sum(1)
        counts = (target != pad_id).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    torch.set_grad_enabled(grad)
    model.train(mode)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


@right("no gradients for the model alone")
def sentence_losses(model, batches, pad_id=1):
    mode = model.training
    model.eval()
    losses, counts, places = [], [], []
    for batch in batches:
        target = batch.tgt[:, 1:]
        with torch.no_grad():
            log_p = model(batch.src, batch.tgt[:, :-1]).log_softmax(-1)
        each = F.nll_loss(
            log_p.transpose(1, 2), target, ignore_index=pad_id, reduction="none"
        )
        losses.append(each.sum(1))
        counts.append((target != pad_id).sum(1))
        places += batch.indices
    order = torch.tensor(places).argsort()
    model.train(mode)
    return torch.cat(losses)[order], torch.cat(counts)[order]


# --- corpus_perplexity: wrong ------------------------------------------------------


@wrong("2**loss", diagnosed=True, names="2 to the mean loss")
def corpus_perplexity(losses, counts):
    return 2 ** (losses.sum() / counts.sum()).item()


@wrong("10**loss", diagnosed=True, names="10 to the mean loss")
def corpus_perplexity(losses, counts):
    return 10 ** (losses.sum() / counts.sum()).item()


@wrong("mean of sentence means", diagnosed=True, names="mean of the sentences' means")
def corpus_perplexity(losses, counts):
    return math.exp((losses / counts).mean().item())


@wrong("mean of perplexities", diagnosed=True, names="mean of the sentences' perplex")
def corpus_perplexity(losses, counts):
    return (losses / counts).exp().mean().item()


@wrong("no exponential", diagnosed=True, names="without its exponential")
def corpus_perplexity(losses, counts):
    return (losses.sum() / counts.sum()).item()


@wrong("a sentence's loss", diagnosed=True, names="of a sentence, not of a token")
def corpus_perplexity(losses, counts):
    return losses.mean().exp().item()


@wrong("the summed loss", diagnosed=True, names="e to the summed loss")
def corpus_perplexity(losses, counts):
    return losses.sum().exp().item()


@wrong("weighted mean of perplexities", diagnosed=True, names="weighted by length")
def corpus_perplexity(losses, counts):
    return (((losses / counts).exp() * counts).sum() / counts.sum()).item()


@wrong("minus the loss", diagnosed=True, names="e to minus the mean loss")
def corpus_perplexity(losses, counts):
    return math.exp(-losses.sum().item() / counts.sum().item())


@wrong("upside down", diagnosed=True, names="tokens divided by their loss")
def corpus_perplexity(losses, counts):
    return math.exp(counts.sum().item() / losses.sum().item())


@wrong("the median", diagnosed=True, names="median")
def corpus_perplexity(losses, counts):
    return (losses / counts).median().exp().item()


@wrong("losses weighted by length twice")
def corpus_perplexity(losses, counts):
    return math.exp(((losses * counts).sum() / (counts**2).sum()).item())


# --- corpus_perplexity: right ------------------------------------------------------


@right("torch.exp")
def corpus_perplexity(losses, counts):
    return torch.exp(losses.sum() / counts.sum())


@right("the function of unit 10")
def corpus_perplexity(losses, counts):
    return perplexity(float(losses.sum() / counts.sum()))


@right("Python's sums")
def corpus_perplexity(losses, counts):
    return math.e ** (sum(losses.tolist()) / sum(counts.tolist()))


@right("in float64")
def corpus_perplexity(losses, counts):
    return (losses.double().sum() / counts.double().sum()).exp().item()


@right("a mean weighted by counts")
def corpus_perplexity(losses, counts):
    means = losses / counts
    return math.exp(float((means * counts / counts.sum()).sum()))


@right("numpy")
def corpus_perplexity(losses, counts):
    mean = np.average((losses / counts).numpy(), weights=counts.numpy())
    return float(np.exp(mean))


@right("the inverse of a geometric mean of probabilities")
def corpus_perplexity(losses, counts):
    total = counts.sum().item()
    return math.prod(math.exp(-loss / total) for loss in losses.tolist()) ** -1


# --- bleu_by_length: wrong ---------------------------------------------------------


@wrong(
    "by the translation's length", diagnosed=True, names="length of the translations"
)
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(hypotheses):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (
            len(g),
            corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
            if g
            else None,
        )
        for g in groups
    ]


@wrong("by the reference's length", diagnosed=True, names="length of the references")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(references):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (
            len(g),
            corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
            if g
            else None,
        )
        for g in groups
    ]


@wrong("a limit belongs to the upper group", diagnosed=True, names="exactly the limit")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_right(limits, len(words))].append(place)
    return [
        (
            len(g),
            corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
            if g
            else None,
        )
        for g in groups
    ]


@wrong("lengths with <sos> and <eos>", diagnosed=True, names="count <sos> and <eos>")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words) + 2)].append(place)
    return [
        (
            len(g),
            corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
            if g
            else None,
        )
        for g in groups
    ]


@wrong("cumulative groups", diagnosed=True, names="holds the shorter ones too")
def bleu_by_length(sources, hypotheses, references, limits):
    table = []
    for limit in [*limits, math.inf]:
        g = [i for i, words in enumerate(sources) if len(words) <= limit]
        score = corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
        table.append((len(g), score if g else None))
    return table


@wrong("the mean of sentence scores", diagnosed=True, names="mean of the sentences'")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    table = []
    for g in groups:
        scores = [corpus_bleu([hypotheses[i]], [references[i]]) for i in g]
        table.append((len(g), sum(scores) / len(g) if g else None))
    return table


@wrong("arguments swapped", diagnosed=True, names="arguments swapped")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (
            len(g),
            corpus_bleu([references[i] for i in g], [hypotheses[i] for i in g])
            if g
            else None,
        )
        for g in groups
    ]


@wrong("the last group forgotten", diagnosed=True, names="beyond the last limit")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (
            len(g),
            corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
            if g
            else None,
        )
        for g in groups[:-1]
    ]


@wrong("0 for an empty group", diagnosed=True, names="0 as the BLEU")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (
            len(g),
            corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
            if g
            else 0.0,
        )
        for g in groups
    ]


@wrong("an empty group is an error", diagnosed=True, names="sentence in every group")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (len(g), corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g]))
        for g in groups
    ]


@wrong(
    "empty groups are left out", diagnosed=True, names="groups that have no sentence"
)
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (len(g), corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g]))
        for g in groups
        if g
    ]


@wrong("BLEU before the number", diagnosed=True, names="BLEU first")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (
            corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
            if g
            else None,
            len(g),
        )
        for g in groups
    ]


@wrong("the first references for every group", diagnosed=True, names="other sentences")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (
            len(g),
            corpus_bleu([hypotheses[i] for i in g], references[: len(g)])
            if g
            else None,
        )
        for g in groups
    ]


@wrong("the number of words", diagnosed=True, names="words of each group")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (
            sum(len(sources[i]) for i in g),
            corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
            if g
            else None,
        )
        for g in groups
    ]


@wrong("the longest first", diagnosed=True, names="from the longest")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    return [
        (
            len(g),
            corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
            if g
            else None,
        )
        for g in reversed(groups)
    ]


# --- bleu_by_length: right ---------------------------------------------------------


@right("bisect")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [([], []) for _ in range(len(limits) + 1)]
    for source, h, r in zip(sources, hypotheses, references, strict=False):
        group = groups[bisect.bisect_left(limits, len(source))]
        group[0].append(h)
        group[1].append(r)
    return [(len(h), corpus_bleu(h, r) if h else None) for h, r in groups]


@right("a lower and an upper bound for each group")
def bleu_by_length(sources, hypotheses, references, limits):
    table = []
    bounds = zip([-1, *limits], [*limits, math.inf], strict=False)
    for low, high in bounds:
        kept = [i for i in range(len(sources)) if low < len(sources[i]) <= high]
        if not kept:
            table.append((0, None))
            continue
        score = corpus_bleu(
            [hypotheses[i] for i in kept], [references[i] for i in kept]
        )
        table.append((len(kept), score))
    return table


@right("numpy.digitize")
def bleu_by_length(sources, hypotheses, references, limits):
    lengths = np.array([len(words) for words in sources])
    which = np.digitize(lengths, np.array(limits), right=True)
    table = []
    for number in range(len(limits) + 1):
        kept = np.flatnonzero(which == number).tolist()
        written = [hypotheses[i] for i in kept]
        score = corpus_bleu(written, [references[i] for i in kept]) if kept else None
        table.append((len(kept), score))
    return table


@right("torch.bucketize, and lists for rows")
def bleu_by_length(sources, hypotheses, references, limits):
    lengths = torch.tensor([len(words) for words in sources])
    which = torch.bucketize(lengths, torch.tensor(limits, dtype=torch.long))
    table = [[0, None] for _ in range(len(limits) + 1)]
    for number in which.unique().tolist():
        kept = (which == number).nonzero().flatten().tolist()
        table[number] = [
            len(kept),
            corpus_bleu([hypotheses[i] for i in kept], [references[i] for i in kept]),
        ]
    return table


@right("a dictionary of groups")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = {}
    for place, source in enumerate(sources):
        name = next((i for i, n in enumerate(limits) if len(source) <= n), len(limits))
        groups.setdefault(name, []).append(place)

    def row(places):
        if len(places) == 0:
            return 0, None
        pairs = [(hypotheses[i], references[i]) for i in places]
        return len(pairs), corpus_bleu([h for h, _ in pairs], [r for _, r in pairs])

    return [row(groups.get(name, [])) for name in range(len(limits) + 1)]


@right("tuples of everything, sorted by length first")
def bleu_by_length(sources, hypotheses, references, limits):
    rest = sorted(
        zip(sources, hypotheses, references, strict=False), key=lambda row: len(row[0])
    )
    table = []
    for limit in [*limits, float("inf")]:
        group = [row for row in rest if len(row[0]) <= limit]
        rest = rest[len(group) :]
        if group:
            _, written, wanted = zip(*group, strict=False)
            table.append((len(group), corpus_bleu(list(written), list(wanted))))
        else:
            table.append((0, None))
    return tuple(table)


# --- bootstrap_interval: wrong -----------------------------------------------------


@wrong("90 of 100", diagnosed=True, names="90 of 100")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
            for row in draws.tolist()
        ]
    )
    return scores.quantile(0.05).item(), scores.quantile(0.95).item()


@wrong("the ends swapped", diagnosed=True, names="ends are swapped")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
            for row in draws.tolist()
        ]
    )
    return scores.quantile(0.975).item(), scores.quantile(0.025).item()


@wrong("least and greatest", diagnosed=True, names="least and the greatest")
def bootstrap_interval(hypotheses, references, draws):
    scores = [
        corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
        for row in draws.tolist()
    ]
    return min(scores), max(scores)


@wrong("references are not drawn", diagnosed=True, names="without the references drawn")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu([hypotheses[i] for i in row], references)
            if len(row) == len(references)
            else 0.0
            for row in draws.tolist()
        ]
    )
    return scores.quantile(0.025).item(), scores.quantile(0.975).item()


@wrong("translations are not drawn", diagnosed=True, names="without the translations")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu(hypotheses, [references[i] for i in row])
            if len(row) == len(references)
            else 0.0
            for row in draws.tolist()
        ]
    )
    return scores.quantile(0.025).item(), scores.quantile(0.975).item()


@wrong("means of sentence scores", diagnosed=True, names="means of the sentences'")
def bootstrap_interval(hypotheses, references, draws):
    pairs = zip(hypotheses, references, strict=False)
    each = torch.tensor([corpus_bleu([h], [r]) for h, r in pairs])
    scores = each[draws].mean(dim=1)
    return scores.quantile(0.025).item(), scores.quantile(0.975).item()


@wrong("without repetitions", diagnosed=True, names="without repetitions")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu(
                [hypotheses[i] for i in set(row)], [references[i] for i in set(row)]
            )
            for row in draws.tolist()
        ]
    )
    return scores.quantile(0.025).item(), scores.quantile(0.975).item()


@wrong("arguments swapped", diagnosed=True, names="swaps hypotheses and references")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu([references[i] for i in row], [hypotheses[i] for i in row])
            for row in draws.tolist()
        ]
    )
    return scores.quantile(0.025).item(), scores.quantile(0.975).item()


@wrong("standard deviations", diagnosed=True, names="1.96 standard deviations")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
            for row in draws.tolist()
        ]
    )
    half = 1.96 * scores.std() if len(scores) > 1 else 0.0
    return float(scores.mean() - half), float(scores.mean() + half)


@wrong("standard errors", diagnosed=True, names="1.96 standard errors")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
            for row in draws.tolist()
        ]
    )
    half = scores.std() if len(scores) > 1 else scores.sum()
    half = 1.96 * half / math.sqrt(len(scores))
    return float(scores.mean() - half), float(scores.mean() + half)


@wrong("nothing is drawn", diagnosed=True, names="not redrawn")
def bootstrap_interval(hypotheses, references, draws):
    score = corpus_bleu(list(hypotheses), list(references))
    return score, score


@wrong("it draws for itself")
def bootstrap_interval(hypotheses, references, draws):
    n = len(hypotheses)
    scores = torch.tensor(
        [
            corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
            for row in torch.randint(n, draws.shape).tolist()
        ]
    )
    return scores.quantile(0.025).item(), scores.quantile(0.975).item()


@wrong("percentiles by rounding the place down", diagnosed=True, names="rounded down")
def bootstrap_interval(hypotheses, references, draws):
    scores = sorted(
        corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
        for row in draws.tolist()
    )
    last = len(scores) - 1
    return scores[int(0.025 * last)], scores[int(0.975 * last)]


@wrong("half of the scores", diagnosed=True, names="half of the scores")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
            for row in draws.tolist()
        ]
    )
    return scores.quantile(0.25).item(), scores.quantile(0.75).item()


@wrong("the columns are the draws")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.tensor(
        [
            corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
            for row in draws.T.tolist()
        ]
    )
    return scores.quantile(0.025).item(), scores.quantile(0.975).item()


# --- bootstrap_interval: right -----------------------------------------------------


@right("a loop over tensors, two quantiles")
def bootstrap_interval(hypotheses, references, draws):
    scores = []
    for row in draws:
        written = [hypotheses[int(i)] for i in row]
        wanted = [references[int(i)] for i in row]
        scores.append(corpus_bleu(written, wanted))
    scores = torch.tensor(scores)
    return torch.quantile(scores, 0.025).item(), torch.quantile(scores, 0.975).item()


@right("numpy.percentile")
def bootstrap_interval(hypotheses, references, draws):
    scores = [
        corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
        for row in draws.numpy()
    ]
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


@right("sorted, interpolated by hand")
def bootstrap_interval(hypotheses, references, draws):
    pairs = list(zip(hypotheses, references, strict=False))
    scores = sorted(
        corpus_bleu(*map(list, zip(*(pairs[i] for i in row), strict=False)))
        for row in draws.tolist()
    )

    def percentile(share):
        place = share * (len(scores) - 1)
        below = int(place)
        above = min(below + 1, len(scores) - 1)
        return scores[below] + (place - below) * (scores[above] - scores[below])

    return percentile(0.025), percentile(0.975)


@right("a tensor of both ends")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.empty(len(draws), dtype=torch.float64)
    for number, row in enumerate(draws.tolist()):
        scores[number] = corpus_bleu(
            [hypotheses[i] for i in row], [references[i] for i in row]
        )
    ends = torch.tensor([0.025, 0.975], dtype=torch.float64)
    return torch.quantile(scores, ends)


@right("counts of each sentence, added up for every draw")
def bootstrap_interval(hypotheses, references, draws):
    rows = []
    for h, r in zip(hypotheses, references, strict=False):
        row = [len(h), closest_length(len(h), [r])]
        for n in (1, 2, 3, 4):
            found = count_ngrams(h, n)
            row += [(found & count_ngrams(r, n)).total(), found.total()]
        rows.append(row)
    sums = torch.tensor(rows, dtype=torch.float64)[draws].sum(dim=1)  # (r, 10)
    written, wanted = sums[:, 0], sums[:, 1]
    mean_log = (sums[:, 2::2] / sums[:, 3::2]).log().mean(dim=1)
    penalty = (1 - wanted / written).clamp(max=0)
    scores = 100 * (mean_log + penalty).exp()
    low, high = scores.quantile(torch.tensor([0.025, 0.975], dtype=torch.float64))
    return low.item(), high.item()


@right("two tensors without dimensions")
def bootstrap_interval(hypotheses, references, draws):
    def score(row):
        return corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])

    scores = torch.tensor(list(map(score, draws.tolist())))
    return torch.quantile(scores, 0.025), torch.quantile(scores, 0.975)


# --- copy_unknown_words: wrong -----------------------------------------------------


@wrong("<sos> and <eos> take part", diagnosed=True, names="<sos> and <eos>")
def copy_unknown_words(target, cross_attention, source_words):
    words = ["<sos>", *source_words, "<eos>"]
    places = cross_attention.mean(dim=(0, 1)).argmax(dim=-1).tolist()
    return [
        words[p] if w == "<unk>" else w for w, p in zip(target, places, strict=False)
    ]


@wrong("moved to the nearest word", diagnosed=True, names="moved to the nearest word")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1)).argmax(dim=-1) - 1
    places = places.clamp(0, len(source_words) - 1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@wrong("<sos> is not taken into account", diagnosed=True, names="word after the one")
def copy_unknown_words(target, cross_attention, source_words):
    n = len(source_words)
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1) + 1
    places = (places % n).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@wrong("one word too early", diagnosed=True, names="word before the one")
def copy_unknown_words(target, cross_attention, source_words):
    places = (cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1) - 1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@wrong("the word at the same place", diagnosed=True, names="at the same place")
def copy_unknown_words(target, cross_attention, source_words):
    last = len(source_words) - 1
    return [
        source_words[min(i, last)] if w == "<unk>" else w for i, w in enumerate(target)
    ]


@wrong("the last layer alone", diagnosed=True, names="last layer alone")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention[-1].mean(dim=0)[:, 1:-1].argmax(dim=-1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@wrong("the first layer alone", diagnosed=True, names="first layer alone")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention[0].mean(dim=0)[:, 1:-1].argmax(dim=-1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@wrong("the first head alone", diagnosed=True, names="first head alone")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention[:, 0].mean(dim=0)[:, 1:-1].argmax(dim=-1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@wrong(
    "the greatest weight of any head", diagnosed=True, names="greatest weight of any"
)
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.amax(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@wrong("the next token's weights", diagnosed=True, names="next token's weights")
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.mean(dim=(0, 1))[:, 1:-1]
    places = [*average.argmax(dim=-1).tolist()[1:], 0]
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@wrong("the least weight", diagnosed=True, names="looked at least")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmin(dim=-1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@wrong("every word is copied", diagnosed=True, names="for every word")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    return [source_words[place] for place in places]


@wrong("the first <unk> alone", diagnosed=True, names="first unknown word alone")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    written = list(target)
    if "<unk>" in written:
        first = written.index("<unk>")
        written[first] = source_words[places[first]]
    return written


@wrong("<unk> is left out", diagnosed=True, names="without its unknown words")
def copy_unknown_words(target, cross_attention, source_words):
    return [word for word in target if word != "<unk>"]


@wrong("it writes into the list it was given", diagnosed=True, names="changed in place")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    for i, place in enumerate(places):
        if target[i] == "<unk>":
            target[i] = source_words[place]
    return target


@wrong("a text, not tokens", diagnosed=True, names="joined to a text")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    pairs = zip(target, places, strict=False)
    return " ".join(source_words[p] if w == "<unk>" else w for w, p in pairs)


# --- copy_unknown_words: right -----------------------------------------------------


@right("the sum for the mean, and a loop")
def copy_unknown_words(target, cross_attention, source_words):
    total = cross_attention.sum(dim=1).sum(dim=0)
    written = []
    for i, word in enumerate(target):
        if word == "<unk>":
            word = source_words[total[i, 1:-1].argmax().item()]
        written.append(word)
    return written


@right("layers and heads flattened")
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.flatten(0, 1).mean(dim=0)[:, 1:-1]
    places = average.max(dim=-1).indices
    return [
        source_words[places[i]] if word == "<unk>" else word
        for i, word in enumerate(target)
    ]


@right("the ends are masked, and one is subtracted")
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.mean(dim=0).mean(dim=0).clone()
    average[:, 0] = average[:, -1] = float("-inf")
    places = (average.argmax(dim=-1) - 1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@right("Python's max over the words")
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.mean(dim=(0, 1)).tolist()

    def looked_at(row):
        place = max(range(len(source_words)), key=lambda j: row[j + 1])
        return source_words[place]

    pairs = zip(target, average, strict=False)
    return [looked_at(row) if word == "<unk>" else word for word, row in pairs]


@right("einsum and numpy")
def copy_unknown_words(target, cross_attention, source_words):
    total = torch.einsum("lhts->ts", cross_attention).numpy()
    places = np.argmax(total[:, 1 : len(source_words) + 1], axis=1)
    words = np.array(list(source_words), dtype=object)[places]
    return [
        str(copy) if w == "<unk>" else w for w, copy in zip(target, words, strict=False)
    ]


@right("a copy of the list, its places looked for")
def copy_unknown_words(target, cross_attention, source_words):
    written = list(target)
    n_layers, n_heads, _, _ = cross_attention.shape
    average = cross_attention.sum(dim=(0, 1)) / (n_layers * n_heads)
    for place in [i for i, word in enumerate(written) if word == "<unk>"]:
        row = average[place][1:-1]
        written[place] = source_words[int(torch.argmax(row))]
    return tuple(written)
