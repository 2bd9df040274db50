"""Wrong variants and right styles of unit 13, as students write them."""

import ast
import bisect
import collections
import contextlib
import heapq
import itertools
import math
import re
from itertools import pairwise  # noqa: F401 (a variant uses it)

import numpy as np
import torch
import torch.nn.functional as F

from autograder.proof.variants import answer, body, drop, insert, swap
from transformer.model import evaluating
from transformer.training.step import (
    perplexity,  # noqa: F401 (a variant uses it)
    teacher_forcing_split,
)
from transformer.translation.bleu import corpus_bleu
from transformer.translation.ngrams import closest_length, count_ngrams


def keep(key):
    """Let an answer cache its results by a key that omits an argument."""

    def change(source):
        (definition,) = ast.parse(source).body
        lines = source.splitlines()
        start = definition.body[0].lineno - 1
        kept = f'{definition.name}.__dict__.setdefault("kept", {{}})'
        begin = [f"    kept, key = {kept}, {key}", "    if key not in kept:"]
        inner = [
            "        def result():",
            *(f"        {line}" for line in lines[start:]),
        ]
        end = ["        kept[key] = result()", "    return kept[key]\n"]
        return "\n".join([*lines[:start], *begin, *inner, *end])

    return change


# --- sentence_losses --------------------------------------------------------------

sentence_losses = answer(
    "transformer.experiments.report.sentence_losses",
    swap("def sentence_losses(", "@evaluating\ndef sentence_losses("),
    body("""
    rows = []
    for batch in batches:
        logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)
        target = batch.tgt[:, 1:]
        each = F.cross_entropy(logits, target, ignore_index=pad_id, reduction="none")
        losses = each.sum(1)
        counts = (target != pad_id).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)
    """),
)
in_eval_mode = answer(
    "transformer.experiments.report.sentence_losses",
    body("""
    was_training = model.training
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
    model.train(was_training)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)
    """),
)
in_eval_mode.with_faults("kept buffer state default")
in_eval_mode.wrong(
    "validation in train() mode", swap("eval", "train"), names="train() mode"
)
in_eval_mode.wrong(
    "a model that is not switched to eval() mode",
    drop("""
        was_training = model.training
        model.eval()
        """),
    drop("model.train(was_training)"),
    names="train() mode",
)
in_eval_mode.wrong(
    "a model that is left in eval() mode",
    drop("was_training = model.training"),
    drop("model.train(was_training)"),
    names="mode is not restored",
)
in_eval_mode.wrong(
    "a model that is left in train() mode",
    drop("was_training = model.training"),
    swap("(was_training)", "()"),
    names="mode is not restored",
)
sentence_losses.wrong(
    "padding included in the loss",
    swap("each = F", "losses = F"),
    swap(
        """
        (logits, target, ignore_index=pad_id, reduction="none")
        losses = each
        """,
        '(logits, target, reduction="none")',
    ),
    names="include padding",
)
sentence_losses.wrong(
    "padding counted as tokens",
    swap("(target != pad_id).sum(1)", "[target.size(1)] * len(target)"),
    swap("counts.tolist()", "counts"),
    names="counts that include padding",
)
sentence_losses.wrong(
    "<sos> counted as a token",
    swap("target !=", "batch.tgt !="),
    names="counts that include <sos>",
)


@sentence_losses.wrong("the order of the batches", names="order of the batches")
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


@sentence_losses.wrong(
    "a sort by the permutation instead of its inverse", names="losses[indices]"
)
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


@sentence_losses.wrong("a target that is not shifted", names="not shifted")
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


sentence_losses.wrong(
    "a model that reads the word it must predict",
    drop("logits = model(batch.src, batch.tgt[:, :-1]).transpose(1, 2)"),
    swap(
        "[:, 1:]",
        """
        [:, 1:]
        logits = model(batch.src, target).transpose(1, 2)
        """,
    ),
    names="reads the word it must predict",
)
sentence_losses.wrong(
    "the mean loss of each sentence",
    swap("losses = each.sum(1)", "losses = each.sum(1) / (target != pad_id).sum(1)"),
    names="not their sum",
)
sentence_losses.wrong(
    "the mean over padded positions",
    swap("losses = each.sum(1)", "losses = each.mean(1)"),
    names="padded length",
)
sentence_losses.wrong(
    "the batch's mean for each sentence",
    swap("each = F", "loss = F"),
    swap(
        """
        (logits, target, ignore_index=pad_id, reduction="none")
        losses = each.sum(1)
        """,
        "(logits, target, ignore_index=pad_id)",
    ),
    swap("losses.", "(loss * counts)."),
    names="mean loss of the whole batch",
)
sentence_losses.wrong(
    "a softmax before the cross-entropy",
    swap(
        "(batch.src, batch.tgt[:, :-1])", "(batch.src, batch.tgt[:, :-1]).softmax(-1)"
    ),
    names="second softmax",
)
sentence_losses.wrong(
    "losses without <eos>",
    swap("losses = each.sum(1)", "losses = (each * (target != 3)).sum(1)"),
    swap(
        "counts = (target != pad_id)", "counts = ((target != pad_id) & (target != 3))"
    ),
    names="without the loss of <eos>",
)
sentence_losses.wrong(
    "the loss in bits",
    swap("losses = each.sum(1)", "losses = each.sum(1) / math.log(2)"),
    names="bits",
)
sentence_losses.wrong(
    "the log-probability without the minus sign",
    swap("losses = each.sum(1)", "losses = -each.sum(1)"),
    names="its negative",
)
sentence_losses.wrong(
    "a hard-coded padding id of 1",
    swap("each = F", "losses = F"),
    swap(
        """
        (logits, target, ignore_index=pad_id, reduction="none")
        losses = each
        """,
        '(logits, target, ignore_index=1, reduction="none")',
    ),
    swap("!= pad_id", "!= 1"),
    names="a token other than pad_id",
)
sentence_losses.wrong(
    "the perplexity of each sentence",
    swap(
        "losses = each.sum(1)",
        "losses = (each.sum(1) / (target != pad_id).sum(1)).exp()",
    ),
    names="perplexity of each",
)
in_eval_mode.wrong(
    "an evaluation with gradients",
    swap("with torch.no_grad():", "with torch.enable_grad():"),
    names="evaluated with gradients",
)


@sentence_losses.wrong("zeros for all", names="losses without a model")
def sentence_losses(model, batches, pad_id=1):
    n = sum(len(batch.indices) for batch in batches)
    return torch.zeros(n), torch.zeros(n, dtype=torch.long)


@sentence_losses.right("the decorator of unit 11 and a dictionary")
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


@sentence_losses.right("gather on a log-softmax and a final argsort")
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


@sentence_losses.right("each sentence on its own, without its padding")
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


@sentence_losses.right("encode, decode and logsumexp, with losses written by index")
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


@sentence_losses.right("the whole target as input, with the last logits discarded")
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


@sentence_losses.right("einsum with one-hot targets and an exit stack for the mode")
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


@sentence_losses.right("gradients switched off and on again")
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


@sentence_losses.right("torch.no_grad around only the model")
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


# --- corpus_perplexity ------------------------------------------------------------

corpus_perplexity = answer("transformer.experiments.report.corpus_perplexity")
corpus_perplexity.with_faults("kept state default written")
corpus_perplexity.wrong(
    "2**loss",
    body("return 2 ** (losses.sum() / counts.sum()).item()"),
    names="2 to the power of the mean loss",
)
corpus_perplexity.wrong(
    "10**loss",
    body("return 10 ** (losses.sum() / counts.sum()).item()"),
    names="10 to the power of the mean loss",
)
corpus_perplexity.wrong(
    "mean of sentence means",
    swap("losses.sum().item() / counts.sum", "(losses / counts).mean"),
    names="mean of the sentences' means",
)
corpus_perplexity.wrong(
    "mean of perplexities",
    body("return (losses / counts).exp().mean().item()"),
    names="mean of the sentences' perplex",
)
corpus_perplexity.wrong(
    "no exponential",
    body("return (losses.sum() / counts.sum()).item()"),
    names="mean loss without the exponential",
)
corpus_perplexity.wrong(
    "the mean loss per sentence",
    body("return losses.mean().exp().item()"),
    names="per sentence, not per token",
)
corpus_perplexity.wrong(
    "the summed loss",
    body("return losses.sum().exp().item()"),
    names="e to the power of the summed loss",
)
corpus_perplexity.wrong(
    "weighted mean of perplexities",
    body("return (((losses / counts).exp() * counts).sum() / counts.sum()).item()"),
    names="weighted by length",
)
corpus_perplexity.wrong(
    "minus the loss",
    swap("losses.sum", "-losses.sum"),
    names="e to the power of minus the mean loss",
)
corpus_perplexity.wrong(
    "the inverse of the mean loss",
    body("return math.exp(counts.sum().item() / losses.sum().item())"),
    names="tokens divided by their loss",
)
corpus_perplexity.wrong(
    "the median", body("return (losses / counts).median().exp().item()"), names="median"
)
corpus_perplexity.wrong(
    "losses weighted by length twice",
    body("return math.exp(((losses * counts).sum() / (counts**2).sum()).item())"),
    names="by its length twice",
)
corpus_perplexity.right(
    "torch.exp", body("return torch.exp(losses.sum() / counts.sum())")
)
corpus_perplexity.right(
    "the function of unit 10",
    body("return perplexity(float(losses.sum() / counts.sum()))"),
)
corpus_perplexity.right(
    "Python's sums",
    body("return math.e ** (sum(losses.tolist()) / sum(counts.tolist()))"),
)
corpus_perplexity.right(
    "a computation in float64",
    body("return (losses.double().sum() / counts.double().sum()).exp().item()"),
)
corpus_perplexity.right(
    "a mean weighted by counts",
    body("return math.exp(float((losses / counts * counts / counts.sum()).sum()))"),
)


@corpus_perplexity.right("numpy")
def corpus_perplexity(losses, counts):
    mean = np.average((losses / counts).numpy(), weights=counts.numpy())
    return float(np.exp(mean))


@corpus_perplexity.right("the inverse of a geometric mean of probabilities")
def corpus_perplexity(losses, counts):
    total = counts.sum().item()
    return math.prod(math.exp(-loss / total) for loss in losses.tolist()) ** -1


# --- bleu_by_length ---------------------------------------------------------------

bleu_by_length = answer(
    "transformer.experiments.report.bleu_by_length",
    body("""
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
            for g in groups
        ]
        """),
)
bleu_by_length.with_faults("state default")
bleu_by_length.wrong(
    "groups by the translation's length",
    swap("(sources)", "(hypotheses)"),
    names="length of the translations",
)
bleu_by_length.wrong(
    "groups by the reference's length",
    swap("(sources)", "(references)"),
    names="length of the references",
)
bleu_by_length.wrong(
    "a limit that belongs to the upper group",
    swap("bisect_left", "bisect_right"),
    names="exactly the limit",
)
bleu_by_length.wrong(
    "lengths with <sos> and <eos>",
    swap("(words)", "(words) + 2"),
    names="include <sos> and <eos>",
)


@bleu_by_length.wrong("cumulative groups", names="contain all shorter sources")
def bleu_by_length(sources, hypotheses, references, limits):
    table = []
    for limit in [*limits, math.inf]:
        g = [i for i, words in enumerate(sources) if len(words) <= limit]
        score = corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
        table.append((len(g), score if g else None))
    return table


@bleu_by_length.wrong("the mean of sentence scores", names="mean of the sentences'")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    table = []
    for g in groups:
        scores = [corpus_bleu([hypotheses[i]], [references[i]]) for i in g]
        table.append((len(g), sum(scores) / len(g) if g else None))
    return table


bleu_by_length.wrong(
    "arguments swapped",
    swap("hypotheses[i]", "references[i]"),
    swap(", [references[i] for i in g]", ", [hypotheses[i] for i in g]"),
)
bleu_by_length.wrong(
    "a table without the last group",
    swap("in groups", "in groups[:-1]"),
    names="longer than the last limit",
)
bleu_by_length.wrong(
    "0 for an empty group", swap("else None", "else 0.0"), names="0 as the BLEU"
)
bleu_by_length.wrong(
    "an error for an empty group",
    swap(
        """
        corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
        if g
        else None,
        """,
        "corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g]),",
    ),
    diagnosed=False,
)
bleu_by_length.wrong(
    "a table without empty groups",
    swap(
        "for g in groups",
        """
        for g in groups
        if g
        """,
    ),
    names="without its empty groups",
)


@bleu_by_length.wrong("BLEU before the number of sentences", names="BLEU first")
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


bleu_by_length.wrong(
    "the first references for every group",
    swap("[references[i] for i in g]", "references[: len(g)]"),
    names="other sentences",
)
bleu_by_length.wrong(
    "the number of words",
    swap("len(g)", "sum(len(sources[i]) for i in g)"),
    names="words in each group",
)
bleu_by_length.wrong(
    "the longest sources first",
    swap("in groups", "in reversed(groups)"),
    names="from the longest",
)


@bleu_by_length.right("bisect")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [([], []) for _ in range(len(limits) + 1)]
    for source, h, r in zip(sources, hypotheses, references, strict=False):
        group = groups[bisect.bisect_left(limits, len(source))]
        group[0].append(h)
        group[1].append(r)
    return [(len(h), corpus_bleu(h, r) if h else None) for h, r in groups]


@bleu_by_length.right("a lower and an upper bound for each group")
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


@bleu_by_length.right("numpy.digitize")
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


@bleu_by_length.right("torch.bucketize and lists as rows")
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


@bleu_by_length.right("a dictionary of groups")
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


@bleu_by_length.right("tuples that are sorted by length first")
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


# --- bootstrap_interval -----------------------------------------------------------

bootstrap_interval = answer(
    "transformer.experiments.report.bootstrap_interval",
    body("""
        scores = torch.tensor(
            [
                corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
                for row in draws.tolist()
            ]
        )
        return scores.quantile(0.025).item(), scores.quantile(0.975).item()
        """),
)
bootstrap_interval.with_faults("kept state default written")
bootstrap_interval.wrong(
    "swapped ends",
    swap(
        "scores.quantile(0.025).item(), scores.quantile(0.975).item()",
        "scores.quantile(0.975).item(), scores.quantile(0.025).item()",
    ),
    names="ends are swapped",
)
bootstrap_interval.wrong(
    "the lowest and the highest score",
    swap(
        "return scores.quantile(0.025).item(), scores.quantile(0.975).item()",
        "return scores.min().item(), scores.max().item()",
    ),
    names="lowest and the highest",
)
bootstrap_interval.wrong(
    "references that are not resampled",
    swap(
        "([hypotheses[i] for i in row], [references[i] for i in row])",
        """
        ([hypotheses[i] for i in row], references)
        if len(row) == len(references)
        else 0.0
        """,
    ),
    names="references are not resampled",
)
bootstrap_interval.wrong(
    "translations that are not resampled",
    swap("[hypotheses[i] for i in row]", "hypotheses"),
    swap(
        "for row",
        """
        if len(row) == len(references)
        else 0.0
        for row
        """,
    ),
    names="translations are not resampled",
)


@bootstrap_interval.wrong(
    "means of sentence scores", names="averages of sentence scores"
)
def bootstrap_interval(hypotheses, references, draws):
    pairs = zip(hypotheses, references, strict=False)
    each = torch.tensor([corpus_bleu([h], [r]) for h, r in pairs])
    scores = each[draws].mean(dim=1)
    return scores.quantile(0.025).item(), scores.quantile(0.975).item()


bootstrap_interval.wrong(
    "draws without repetitions",
    swap("hypotheses[i] for i in row", "hypotheses[i] for i in set(row)"),
    swap("references[i] for i in row", "references[i] for i in set(row)"),
)
bootstrap_interval.wrong(
    "arguments swapped",
    swap("hypotheses[i]", "references[i]"),
    swap(", [references[i] for i in row]", ", [hypotheses[i] for i in row]"),
    names="swaps hypotheses and references",
)
bootstrap_interval.wrong(
    "standard deviations",
    swap(
        "return scores.quantile(0.025).item(), scores.quantile(0.975).item()",
        """
        half = 1.96 * scores.std() if len(scores) > 1 else 0.0
        return float(scores.mean() - half), float(scores.mean() + half)
        """,
    ),
    names="1.96 standard deviations",
)
bootstrap_interval.wrong(
    "standard errors",
    swap(
        "return scores.quantile(0.025).item(), scores.quantile(0.975).item()",
        """
        half = scores.std() if len(scores) > 1 else scores.sum()
        half = 1.96 * half / math.sqrt(len(scores))
        return float(scores.mean() - half), float(scores.mean() + half)
        """,
    ),
    names="1.96 standard errors",
)


@bootstrap_interval.wrong("an interval without resampling", names="without resampling")
def bootstrap_interval(hypotheses, references, draws):
    score = corpus_bleu(list(hypotheses), list(references))
    return score, score


bootstrap_interval.wrong(
    "draws that the function makes itself",
    swap("draws.tolist()", "torch.randint(len(hypotheses), draws.shape).tolist()"),
    names="the random state",
)
bootstrap_interval.wrong(
    "percentiles computed by rounding the index down",
    swap(
        "return scores.quantile(0.025).item(), scores.quantile(0.975).item()",
        """
        scores, last = scores.sort().values.tolist(), len(scores) - 1
        return scores[int(0.025 * last)], scores[int(0.975 * last)]
        """,
    ),
    names="rounded down",
)
bootstrap_interval.wrong(
    "the middle half of the scores",
    swap("0.025", "0.25"),
    swap("0.975", "0.75"),
    names="50 of 100",
)
bootstrap_interval.wrong(
    "columns used as draws", swap("tolist", "T.tolist"), names="the columns of"
)


@bootstrap_interval.right("a loop over tensors and two quantiles")
def bootstrap_interval(hypotheses, references, draws):
    scores = []
    for row in draws:
        written = [hypotheses[int(i)] for i in row]
        wanted = [references[int(i)] for i in row]
        scores.append(corpus_bleu(written, wanted))
    scores = torch.tensor(scores)
    return torch.quantile(scores, 0.025).item(), torch.quantile(scores, 0.975).item()


@bootstrap_interval.right("numpy.percentile")
def bootstrap_interval(hypotheses, references, draws):
    scores = [
        corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
        for row in draws.numpy()
    ]
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


@bootstrap_interval.right("sorted scores interpolated by hand")
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


@bootstrap_interval.right("a tensor of both ends")
def bootstrap_interval(hypotheses, references, draws):
    scores = torch.empty(len(draws), dtype=torch.float64)
    for number, row in enumerate(draws.tolist()):
        scores[number] = corpus_bleu(
            [hypotheses[i] for i in row], [references[i] for i in row]
        )
    ends = torch.tensor([0.025, 0.975], dtype=torch.float64)
    return torch.quantile(scores, ends)


@bootstrap_interval.right("counts of each sentence that are added up for every draw")
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


@bootstrap_interval.right("two tensors without dimensions")
def bootstrap_interval(hypotheses, references, draws):
    def score(row):
        return corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])

    scores = torch.tensor(list(map(score, draws.tolist())))
    return torch.quantile(scores, 0.025), torch.quantile(scores, 0.975)


# --- copy_unknown_words -----------------------------------------------------------

copy_unknown_words = answer(
    "transformer.experiments.report.copy_unknown_words",
    body("""
        places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
        return [
            source_words[p] if w == "<unk>" else w
            for w, p in zip(target, places, strict=False)
        ]
        """),
)
copy_unknown_words.with_faults("kept state default written")
copy_unknown_words.wrong(
    "copies of <sos> and <eos>",
    insert('source_words = ["<sos>", *source_words, "<eos>"]', before="places ="),
    swap("[:, 1:-1].argmax", ".argmax"),
    names="<sos> and <eos>",
)
copy_unknown_words.wrong(
    "the nearest word if <sos> or <eos> has the largest weight",
    swap(
        "[:, 1:-1].argmax(dim=-1)",
        """
        .argmax(dim=-1) - 1
        places = places.clamp(0, len(source_words) - 1)
        """,
    ),
)


@copy_unknown_words.wrong("an index that ignores <sos>", names="word after the one")
def copy_unknown_words(target, cross_attention, source_words):
    n = len(source_words)
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1) + 1
    places = (places % n).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


copy_unknown_words.wrong(
    "one word too early",
    swap(".argmax(dim=-1).tolist()", ".argmax(dim=-1).sub(1).tolist()"),
    names="word before the one",
)


@copy_unknown_words.wrong("the word at the same position", names="at the same position")
def copy_unknown_words(target, cross_attention, source_words):
    last = len(source_words) - 1
    return [
        source_words[min(i, last)] if w == "<unk>" else w for i, w in enumerate(target)
    ]


copy_unknown_words.wrong(
    "only the last layer",
    swap(".mean(dim=(0, 1))", "[-1].mean(dim=0)"),
    names="only the last layer",
)
copy_unknown_words.wrong(
    "only the first layer",
    swap(".mean(dim=(0, 1))", "[0].mean(dim=0)"),
    names="only the first layer",
)
copy_unknown_words.wrong(
    "only the first head",
    swap(".mean(dim=(0, 1))", "[:, 0].mean(dim=0)"),
    names="only the first head",
)
copy_unknown_words.wrong(
    "the largest weight of any head",
    swap("mean", "amax"),
    names="largest weight of any",
)


@copy_unknown_words.wrong("the next token's weights", names="next token's weights")
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.mean(dim=(0, 1))[:, 1:-1]
    places = [*average.argmax(dim=-1).tolist()[1:], 0]
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


copy_unknown_words.wrong(
    "the smallest weight", swap("argmax", "argmin"), names="smallest weight"
)


@copy_unknown_words.wrong("a copy for every word", names="for every word")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    return [source_words[place] for place in places]


@copy_unknown_words.wrong("only the first <unk>", names="only the first unknown word")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    written = list(target)
    if "<unk>" in written:
        first = written.index("<unk>")
        written[first] = source_words[places[first]]
    return written


copy_unknown_words.wrong(
    "a translation without <unk>",
    body('return [word for word in target if word != "<unk>"]'),
    names="without its unknown words",
)


@copy_unknown_words.wrong("an input list that is changed", names="changed in place")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    for i, place in enumerate(places):
        if target[i] == "<unk>":
            target[i] = source_words[place]
    return target


@copy_unknown_words.wrong("a string instead of tokens", names="joined into a string")
def copy_unknown_words(target, cross_attention, source_words):
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    pairs = zip(target, places, strict=False)
    return " ".join(source_words[p] if w == "<unk>" else w for w, p in pairs)


@copy_unknown_words.right("a sum instead of the mean, and a loop")
def copy_unknown_words(target, cross_attention, source_words):
    total = cross_attention.sum(dim=1).sum(dim=0)
    written = []
    for i, word in enumerate(target):
        if word == "<unk>":
            word = source_words[total[i, 1:-1].argmax().item()]
        written.append(word)
    return written


@copy_unknown_words.right("layers and heads flattened into one axis")
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.flatten(0, 1).mean(dim=0)[:, 1:-1]
    places = average.max(dim=-1).indices
    return [
        source_words[places[i]] if word == "<unk>" else word
        for i, word in enumerate(target)
    ]


@copy_unknown_words.right("masked ends and indices minus one")
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.mean(dim=0).mean(dim=0).clone()
    average[:, 0] = average[:, -1] = float("-inf")
    places = (average.argmax(dim=-1) - 1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


@copy_unknown_words.right("Python's max over the words")
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.mean(dim=(0, 1)).tolist()

    def looked_at(row):
        place = max(range(len(source_words)), key=lambda j: row[j + 1])
        return source_words[place]

    pairs = zip(target, average, strict=False)
    return [looked_at(row) if word == "<unk>" else word for word, row in pairs]


@copy_unknown_words.right("einsum and numpy")
def copy_unknown_words(target, cross_attention, source_words):
    total = torch.einsum("lhts->ts", cross_attention).numpy()
    places = np.argmax(total[:, 1 : len(source_words) + 1], axis=1)
    words = np.array(list(source_words), dtype=object)[places]
    return [
        str(copy) if w == "<unk>" else w for w, copy in zip(target, words, strict=False)
    ]


@copy_unknown_words.right("a copy of the list and a search for <unk>")
def copy_unknown_words(target, cross_attention, source_words):
    written = list(target)
    n_layers, n_heads, _, _ = cross_attention.shape
    average = cross_attention.sum(dim=(0, 1)) / (n_layers * n_heads)
    for place in [i for i, word in enumerate(written) if word == "<unk>"]:
        row = average[place][1:-1]
        written[place] = source_words[int(torch.argmax(row))]
    return tuple(written)


# Wrong ways to choose the word. Every random draw must reveal them.
for description, weights, names in (
    ("only the first two layers", "[:2].mean(dim=(0, 1))", "first two layers"),
    ("a layer in the middle", "[1].mean(dim=0)", "only the second layer"),
    ("the last head of each layer", "[:, -1].mean(dim=0)", "only the last head"),
    ("all heads but the first", "[:, 1:].mean(dim=(0, 1))", "but the first"),
    ("three heads of each layer", "[:, :3].mean(dim=(0, 1))", "but the last"),
    (
        "the median of the heads",
        ".flatten(0, 1).median(dim=0).values",
        "median of the heads",
    ),
    (
        "the largest weight of the heads in each layer",
        ".amax(dim=1).mean(dim=0)",
        "heads' largest weight",
    ),
    (
        "the maximum over the layers of the heads' mean",
        ".mean(dim=1).amax(dim=0)",
        "over the layers of the heads' mean",
    ),
    ("the squares of the weights", ".square().mean(dim=(0, 1))", "squares"),
    ("a second softmax", ".softmax(dim=-1).mean(dim=(0, 1))", "second softmax"),
    ("the square roots of the weights", ".sqrt().mean(dim=(0, 1))", "roots"),
    ("the product of the heads", ".log().sum(dim=(0, 1))", "product"),
    (
        "renormalised heads",
        ".div(cross_attention[..., 1:-1].sum(dim=-1, keepdim=True)).mean(dim=(0, 1))",
        "renormalised without",
    ),
):
    copy_unknown_words.wrong(
        description, swap(".mean(dim=(0, 1))", weights), names=names
    )
copy_unknown_words.wrong(
    "OpenNMT's method, without <sos>",
    swap("[:, 1:-1].argmax", "[:, : len(source_words)].argmax"),
    names="column 0 is <sos>",
)
copy_unknown_words.wrong(
    "copies that never use the first word",
    swap("[:, 1:-1].argmax(dim=-1)", "[:, 2:-1].argmax(dim=-1).add(1)"),
    names="never use the first",
)
copy_unknown_words.wrong(
    "copies that never use the last word",
    swap("1:-1", "1:-2"),
    names="never use the last",
)
copy_unknown_words.wrong(
    "<eos> counted as the last word",
    swap(
        "[:, 1:-1].argmax(dim=-1)",
        "[:, 1:].argmax(dim=-1).clamp(max=len(source_words) - 1)",
    ),
    names="<eos> counts as the last",
)
copy_unknown_words.wrong(
    "a majority vote of the heads",
    swap(
        "cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1)",
        "cross_attention[..., 1:-1].argmax(dim=-1).flatten(0, 1).mode(dim=0).values",
    ),
    names="most heads",
)
copy_unknown_words.wrong(
    "copies for each word that contains unk",
    swap('w == "<unk>"', '"unk" in w'),
    names="contains unk",
)


@copy_unknown_words.wrong(
    "each source word used only once", names="source word only once"
)
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.mean(dim=(0, 1))[:, 1:-1].clone()
    written = []
    for word, row in zip(target, average, strict=False):
        if word == "<unk>":
            place = int(row.argmax())
            average[:, place] = 0
            word = source_words[place]
        written.append(word)
    return written


@copy_unknown_words.wrong("a result cached for the next call", names="earlier call")
def copy_unknown_words(target, cross_attention, source_words, kept={}):  # noqa: B006
    shape = tuple(cross_attention.shape)
    if shape not in kept:
        average = cross_attention.mean(dim=(0, 1))[:, 1:-1]
        places = average.argmax(dim=-1).tolist()
        kept[shape] = [
            source_words[p] if w == "<unk>" else w
            for w, p in zip(target, places, strict=False)
        ]
    return kept[shape]


@copy_unknown_words.wrong(
    "attention weights that are changed", names="changed in place"
)
def copy_unknown_words(target, cross_attention, source_words):
    cross_attention[..., 0] = cross_attention[..., -1] = 0
    places = (cross_attention.mean(dim=(0, 1)).argmax(dim=-1) - 1).tolist()
    return [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]


copy_unknown_words.wrong("nothing", body("return None"), names="number of results")
copy_unknown_words.wrong(
    "the source words",
    body("return list(source_words)"),
    names="the words of the source",
)


# --- Families of mistakes: state, randomness, batches, extremes, corners ------------

in_eval_mode.wrong(
    "gradients that are not switched on again",
    swap(
        "was_training = model.training",
        "was_training = model.training\ntorch.set_grad_enabled(False)",
    ),
    names="whether PyTorch records gradients",
)
in_eval_mode.wrong(
    "a fixed seed",
    swap(
        "was_training = model.training",
        "was_training = model.training\ntorch.manual_seed(0)",
    ),
    names="the random state",
)
in_eval_mode.wrong(
    "two loops over the batches",
    insert("n = sum(len(batch.indices) for batch in batches)", before="rows = []"),
    swap("return torch.tensor(losses)", "return torch.tensor(losses)[:n]"),
    names="twice",
)
in_eval_mode.wrong(
    "label smoothing",
    swap('reduction="none"', 'reduction="none", label_smoothing=0.1'),
    names="label smoothing",
)
in_eval_mode.wrong(
    "padding replaced by -100 in the batch",
    insert("target[target == pad_id] = -100", before="losses ="),
    swap("ignore_index=pad_id, ", ""),
    swap("target != pad_id", "target != -100"),
    names="changed in place",
)
in_eval_mode.wrong(
    "32-bit counts",
    swap("torch.tensor(counts)", "torch.tensor(counts, dtype=torch.int32)"),
    names="64-bit",
)
in_eval_mode.wrong(
    "rows kept between calls",
    swap("rows = []", "rows = sentence_losses.__dict__.setdefault('rows', [])"),
    names="kept for the next call",
)


@sentence_losses.wrong("the logarithm of a softmax", names="a logarithm of prob")
@evaluating
def sentence_losses(model, batches, pad_id=1):
    rows = []
    for batch in batches:
        target = batch.tgt[:, 1:]
        p = model(batch.src, batch.tgt[:, :-1]).softmax(dim=-1)
        each = -(p.gather(-1, target[..., None])[..., 0] + 1e-9).log()
        losses = (each * (target != pad_id)).sum(1)
        counts = (target != pad_id).sum(1)
        rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=False)
    _, losses, counts = zip(*sorted(rows), strict=False)
    return torch.tensor(losses), torch.tensor(counts)


sentence_losses.wrong("nothing", body("return None"), names="number of results")
sentence_losses.wrong(
    "lists instead of tensors",
    swap("torch.tensor(losses), torch.tensor(counts)", "list(losses), list(counts)"),
    diagnosed=False,
)
sentence_losses.wrong(
    "only the losses",
    swap("torch.tensor(losses), torch.tensor(counts)", "torch.tensor(losses)"),
    names="number of results",
)
corpus_perplexity.wrong("always 1", body("return 1.0"), names="1, the perplexity of")
corpus_perplexity.wrong("nothing", body("return None"), diagnosed=False)
corpus_perplexity.wrong(
    "one perplexity for each sentence",
    body("return (losses / counts).exp()"),
    diagnosed=False,
)
corpus_perplexity.wrong(
    "a product of probabilities",
    body("return (-losses.double()).exp().prod().item() ** (-1 / counts.sum().item())"),
    names="overflows or underflows",
)
corpus_perplexity.wrong(
    "losses that are divided in place",
    body("""
        total = counts.sum().item()
        losses /= total
        return math.exp(losses.sum().item())
        """),
    names="changed in place",
)
bleu_by_length.wrong(
    "one list for all groups",
    swap("[[] for _ in range(len(limits) + 1)]", "[[]] * (len(limits) + 1)"),
    names="repeats one list",
)
bleu_by_length.wrong(
    "None for a BLEU of 0",
    swap(
        """
        corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
        if g
        else None,
        """,
        """
        g
        and corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
        or None,
        """,
    ),
    names="scores 0",
)


@bleu_by_length.wrong("sentences looked up by their words", names="equal sources")
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for words in sources:
        groups[bisect.bisect_left(limits, len(words))].append(sources.index(words))
    table = []
    for g in groups:
        score = corpus_bleu([hypotheses[i] for i in g], [references[i] for i in g])
        table.append((len(g), score if g else None))
    return table


bleu_by_length.wrong(
    "at most five groups",
    swap("range(len(limits) + 1)", "range(5)"),
    swap("in groups", "in groups[: len(limits) + 1]"),
    names="certain number of groups",
)
bleu_by_length.wrong(
    "sources that are sorted in place",
    insert("sources.sort(key=len)", before="return"),
    names="changed in place",
)
bleu_by_length.wrong("nothing", body("return None"), names="number of results")
bleu_by_length.wrong(
    "empty rows",
    body("return [(0, None)] * (len(limits) + 1)"),
    names="without any sentence",
)
for description, ends, names in (
    ("95 of 100", "0.05 0.95", "90 of 100"),
    ("99 of 100", "0.005 0.995", "99 of 100"),
    ("a twentieth below", "0.05 0.975", "from the 5th"),
    ("a twentieth above", "0.025 0.95", "to the 95th"),
    ("one standard deviation", "0.16 0.84", "68 of 100"),
    ("2 and 98", "0.02 0.98", "96 of 100"),
    ("3 and 97", "0.03 0.97", "94 of 100"),
):
    low, high = ends.split()
    bootstrap_interval.wrong(
        f"other percentiles: {description}",
        swap("0.025", low),
        swap("0.975", high),
        names=names,
    )
for method, names in {
    "nearest": "not interpolated",
    "lower": "rounded down",
    "higher": "rounded up to a score",
    "inverted_cdf": "indices 0.025 r",
    "weibull": "'weibull'",
    "hazen": "'hazen'",
    "median_unbiased": "'median_unbiased'",
    "midpoint": "'midpoint'",
}.items():
    bootstrap_interval.wrong(
        f"numpy's method {method}",
        swap(
            "return scores.quantile(0.025).item(), scores.quantile(0.975).item()",
            f"return tuple(np.percentile(scores, [2.5, 97.5], method='{method}'))",
        ),
        names=names,
    )
bootstrap_interval.wrong(
    "indices into the sorted scores",
    swap(
        "return scores.quantile(0.025).item(), scores.quantile(0.975).item()",
        """
        scores = sorted(scores.tolist())
        n = len(scores)
        return scores[int(0.025 * n)], scores[int(0.975 * n)]
        """,
    ),
    names="indices 0.025 r",
)
bootstrap_interval.wrong(
    "indices into the sorted scores from both ends",
    swap(
        "return scores.quantile(0.025).item(), scores.quantile(0.975).item()",
        """
        scores = sorted(scores.tolist())
        cut = int(0.025 * len(scores))
        return scores[cut], scores[-cut - 1]
        """,
    ),
    names="not interpolated",
)
bootstrap_interval.wrong(
    "scores rounded to whole numbers",
    swap("scores.quantile(0.025)", "scores.round().quantile(0.025)"),
    swap("scores.quantile(0.975)", "scores.round().quantile(0.975)"),
    names="scores rounded to whole numbers",
)
bootstrap_interval.wrong(
    "sentences looked up by their words",
    swap(
        "references[i] for i in row",
        "references[hypotheses.index(hypotheses[i])] for i in row",
    ),
    names="get the reference of the first",
)
bootstrap_interval.wrong(
    "a fixed seed",
    insert("torch.manual_seed(0)", before="return"),
    names="the random state",
)
bootstrap_interval.wrong(
    "draws that are sorted in place",
    insert("draws[:] = draws.sort(dim=1).values", before="return"),
    names="changed in place",
)
bootstrap_interval.wrong("nothing", body("return None"), names="number of results")
bootstrap_interval.wrong("zeros", body("return 0.0, 0.0"), names="0 at both ends")
bootstrap_interval.wrong(
    "only the lower end",
    swap(", scores.quantile(0.975).item()", ""),
    names="number of results",
)


for description, key in (
    ("once for all calls", "None"),
    ("by the model", "model"),
    ("by the shapes of the batches", "tuple(x.tgt.shape for x in batches)"),
    ("by the indices", "tuple(tuple(x.indices) for x in batches)"),
    ("by the words", "tuple(str(x.tgt.tolist()) for x in batches)"),
):
    in_eval_mode.wrong(
        f"a result cached {description}",
        keep(key),
        insert("batches = list(batches)", before="kept, key ="),
        names="kept from an earlier call",
    )
for exercise, description, key in (
    (corpus_perplexity, "once for all calls", "None"),
    (corpus_perplexity, "by the number of sentences", "len(losses)"),
    (corpus_perplexity, "by the losses", "tuple(losses.tolist())"),
    (corpus_perplexity, "by the counts", "tuple(counts.tolist())"),
    (bleu_by_length, "once for all calls", "None"),
    (bleu_by_length, "by the limits", "tuple(limits)"),
    (bleu_by_length, "by the number of sentences", "(len(sources), tuple(limits))"),
    (bleu_by_length, "by the sources", "(str(sources), tuple(limits))"),
    (
        bleu_by_length,
        "regardless of the references",
        "str((sources, hypotheses, limits))",
    ),
    (
        bleu_by_length,
        "regardless of the sources",
        "str((hypotheses, references, limits))",
    ),
    (
        bleu_by_length,
        "regardless of the limits",
        "str((sources, hypotheses, references))",
    ),
    (bootstrap_interval, "once for all calls", "None"),
    (bootstrap_interval, "by the number of draws", "draws.shape"),
    (bootstrap_interval, "by the draws", "str(draws.tolist())"),
    (
        bootstrap_interval,
        "regardless of the references",
        "str((hypotheses, draws.tolist()))",
    ),
    (
        bootstrap_interval,
        "regardless of the draws",
        "(str((hypotheses, references)), draws.shape)",
    ),
    (copy_unknown_words, "by the target", "tuple(target)"),
    (copy_unknown_words, "by the source", "tuple(source_words)"),
    (
        copy_unknown_words,
        "regardless of the source",
        "str((target, cross_attention.tolist()))",
    ),
    (
        copy_unknown_words,
        "regardless of the target",
        "str((source_words, cross_attention.tolist()))",
    ),
):
    exercise.wrong(
        f"a result cached {description}", keep(key), names="kept from an earlier call"
    )
for exercise, key in (
    (corpus_perplexity, "str((losses.tolist(), counts.tolist()))"),
    (bleu_by_length, "str((sources, hypotheses, references, limits))"),
    (bootstrap_interval, "str((hypotheses, references, draws.tolist()))"),
    (copy_unknown_words, "str((target, cross_attention.tolist(), source_words))"),
):
    exercise.right("a result cached by all arguments", keep(key))
for exercise in (corpus_perplexity, bleu_by_length, copy_unknown_words):
    exercise.wrong(
        "a fixed seed",
        insert("torch.manual_seed(0)", before="return"),
        names="the random state",
    )


# --- apply_merges -----------------------------------------------------------------

apply_merges = answer("transformer.data.merges.apply_merges")
by_place = answer(
    "transformer.data.merges.apply_merges",
    body("""
    pieces = list(pieces)
    for first, second in merges:
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == first and pieces[i + 1] == second:
                pieces[i : i + 2] = [first + second]
            i += 1
    return pieces
    """),
)
by_place.with_faults("state default")
by_place.right("a loop over indices and a slice", swap("i = 0", "i = int()"))


@apply_merges.right("the earliest learned merge that matches, until none does")
def apply_merges(pieces, merges):
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    pieces = tuple(pieces)
    while True:
        found = [pair for pair in itertools.pairwise(pieces) if pair in ranks]
        if not found:
            return list(pieces)
        first, second = min(found, key=ranks.get)
        made, i = [], 0
        while i < len(pieces):
            if pieces[i : i + 2] == (first, second):
                made.append(first + second)
                i += 2
            else:
                made.append(pieces[i])
                i += 1
        pieces = tuple(made)


@apply_merges.right("a regular expression for whole pieces, like Sennrich's")
def apply_merges(pieces, merges):
    text = " ".join(pieces)
    for pair in merges:
        pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(pair)) + r"(?!\S)")
        text = pattern.sub(lambda found, pair=pair: "".join(pair), text)
    return text.split()


@apply_merges.right("the first position as long as there is one")
def apply_merges(pieces, merges):
    for left, right in merges:
        neighbours = list(itertools.pairwise(pieces))
        while (left, right) in neighbours:
            place = neighbours.index((left, right))
            pieces = [*pieces[:place], left + right, *pieces[place + 2 :]]
            neighbours = list(itertools.pairwise(pieces))
    return tuple(pieces)


@apply_merges.right("recursion and a stack of the remaining pieces")
def apply_merges(pieces, merges):
    if not merges:
        return list(pieces)
    waiting, made = list(pieces)[::-1], []
    while waiting:
        piece = waiting.pop()
        if waiting and (piece, waiting[-1]) == tuple(merges[0]):
            piece += waiting.pop()
        made.append(piece)
    return apply_merges(made, merges[1:])


for description, change, names in (
    ("merges from the last to the first", "merges[::-1]", "last one learned"),
    ("sorted merges", "sorted(merges)", "alphabetical order"),
    ("merges without the last one", "merges[:-1]", "without the last one"),
    ("a sorted set of merges", "sorted(set(merges))", "alphab"),
):
    apply_merges.wrong(
        description, swap("pair in merges:", f"pair in {change}:"), names=names
    )
apply_merges.wrong(
    "only the first merge that matches",
    swap("pieces = merged", "if len(merged) < len(pieces):\n    return merged"),
    names="only the first merge",
)
apply_merges.wrong(
    "one pass in which any merge may apply",
    swap("for pair in merges:", "for _ in range(1):"),
    swap("(merged[-1], piece) == pair", "(merged[-1], piece) in merges"),
    names="one pass",
)
apply_merges.wrong(
    "two pieces with the same joined spelling as the pair",
    swap("(merged[-1], piece) == pair", 'merged[-1] + piece == "".join(pair)'),
    names="same joined spelling",
)
apply_merges.wrong(
    "pairs in either order",
    swap("(merged[-1], piece) == pair", "{merged[-1], piece} == set(pair)"),
    names="either order",
)
apply_merges.wrong(
    "pieces split into letters again",
    insert('pieces = "".join(pieces)', before="for pair in merges:"),
    names="merges of letters",
)
apply_merges.wrong(
    "pieces joined into a string",
    swap("return list(pieces)", 'return " ".join(pieces)'),
    names="joined into a string",
)
apply_merges.wrong(
    "pieces in lower case",
    insert("pieces = [piece.lower() for piece in pieces]", before="for pair in"),
    names="lower case",
)
by_place.wrong(
    "only the first position of each merge",
    swap(
        "pieces[i : i + 2] = [first + second]",
        "pieces[i : i + 2] = [first + second]\nbreak",
    ),
    names="only at its first position",
)
by_place.wrong(
    "one position after the other, with an index out of range",
    swap("len(pieces) - 1", "len(pieces)"),
    diagnosed=False,
)
by_place.wrong(
    "an input list that is changed",
    drop("pieces = list(pieces)"),
    names="changed in place",
)
by_place.wrong(
    "merges from right to left",
    swap("i = 0", "i = len(pieces) - 2"),
    swap("i < len(pieces) - 1", "i >= 0"),
    swap("i += 1", "i -= 1"),
    names="right to left",
)
by_place.wrong(
    "merges that are removed from the list",
    swap(
        "for first, second in merges:",
        "while merges:\n    first, second = merges.pop(0)",
    ),
    names="changed in place",
)


@apply_merges.wrong("a piece joined twice", names="one piece twice")
def apply_merges(pieces, merges):
    for pair in merges:
        hits = [p == pair for p in itertools.pairwise(pieces)]
        pieces = [
            "".join(pair) if i < len(hits) and hits[i] else piece
            for i, piece in enumerate(pieces)
            if (i < len(hits) and hits[i]) or not (i and hits[i - 1])
        ]
    return list(pieces)


@apply_merges.wrong("more than two pieces merged at once", names="more than two")
def apply_merges(pieces, merges):
    for pair in merges:
        merged = list(pieces[:1])
        for before, piece in itertools.pairwise(pieces):
            if (before, piece) == tuple(pair):
                merged[-1] += piece
            else:
                merged.append(piece)
        pieces = merged
    return list(pieces)


@apply_merges.wrong("a search in the joined text", names="inside longer pieces")
def apply_merges(pieces, merges):
    text = " ".join(pieces)
    for pair in merges:
        text = text.replace(" ".join(pair), "".join(pair))
    return text.split()


@apply_merges.wrong("a pattern with special characters", names="a dot matches any")
def apply_merges(pieces, merges):
    text = " ".join(pieces)
    for left, right in merges:
        text = re.sub(rf"(?<!\S){left} {right}(?!\S)", left + right, text)
    return text.split()


@apply_merges.wrong("the first match from the left", names="regardless of which")
def apply_merges(pieces, merges):
    pieces, i = list(pieces), 0
    while i < len(pieces) - 1:
        if (pieces[i], pieces[i + 1]) in merges:
            pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
            i = 0
        else:
            i += 1
    return pieces


@apply_merges.wrong("the longest known piece", names="longest known pieces")
def apply_merges(pieces, merges):
    known = {left + right for left, right in merges}
    text, made = "".join(pieces), []
    while text:
        length = len(text)
        while length > 1 and text[:length] not in known:
            length -= 1
        made.append(text[:length])
        text = text[length:]
    return made


@apply_merges.wrong("a list that loses its last piece", names="loses its last piece")
def apply_merges(pieces, merges):
    for pair in merges:
        made, i = [], 0
        while i < len(pieces) - 1:
            if (pieces[i], pieces[i + 1]) == pair:
                made.append(pieces[i] + pieces[i + 1])
                i += 2
            else:
                made.append(pieces[i])
                i += 1
        pieces = made
    return list(pieces)


for description, result, names in (
    (
        "<unk> for pieces that no merge contains",
        'piece if piece in known else "<unk>"',
        "<unk>",
    ),
    (
        "pieces without those that no merge contains",
        "piece",
        "pieces without those that no merge contains",
    ),
):
    condition = "" if "<unk>" in result else " if piece in known"
    apply_merges.wrong(
        description,
        swap(
            "return list(pieces)",
            f"""
            known = {{part for pair in merges for part in (*pair, "".join(pair))}}
            return [{result} for piece in pieces{condition}]
            """,
        ),
        names=names,
    )
for description, key in (
    ("a result cached by the merges", "tuple(merges)"),
    ("a result cached by the number of pieces", "len(pieces)"),
    ("a result cached by the pieces", "tuple(pieces)"),
):
    apply_merges.wrong(
        description,
        insert(
            f"""
            kept, key = apply_merges.__dict__.setdefault("kept", {{}}), {key}
            if key in kept:
                return list(kept[key])
            """,
            before="for pair in merges:",
        ),
        swap("return list(pieces)", "kept[key] = list(pieces)\nreturn list(pieces)"),
        names="earlier call",
    )
apply_merges.wrong("nothing", body("return None"), diagnosed=False)
apply_merges.wrong(
    "the unchanged pieces", body("return list(pieces)"), names="the unchanged pieces"
)

# --- learn_merges -----------------------------------------------------------------

learn_merges = answer("transformer.data.merges.learn_merges")
learn_merges.with_faults("state default")


@learn_merges.right("words as strings and a regular expression, like Sennrich's")
def learn_merges(word_counts, n_merges):
    spelled = {" ".join("▁" + word): count for word, count in word_counts.items()}
    merges = []
    for _ in range(n_merges):
        seen = collections.defaultdict(int)
        for text, count in spelled.items():
            symbols = text.split(" ")
            for i in range(len(symbols) - 1):
                seen[symbols[i], symbols[i + 1]] += count
        if not seen:
            break
        most = max(seen.values())
        best = sorted(pair for pair in seen if seen[pair] == most)[0]
        pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(best)) + r"(?!\S)")
        spelled = {
            pattern.sub("".join(best), text): count for text, count in spelled.items()
        }
        merges.append(best)
    return merges


@learn_merges.right("two sorts and a separate merge function")
def learn_merges(word_counts, n_merges):
    words = [(["▁", *word], count) for word, count in word_counts.items()]
    merges = []
    while len(merges) < n_merges:
        seen = {}
        for pieces, count in words:
            for i in range(1, len(pieces)):
                pair = pieces[i - 1], pieces[i]
                seen[pair] = seen.get(pair, 0) + count
        ranking = sorted(sorted(seen), key=seen.get, reverse=True)
        if not ranking:
            return merges
        left, right = ranking[0]
        for pieces, _ in words:
            i = 0
            while i + 1 < len(pieces):
                if pieces[i] == left and pieces[i + 1] == right:
                    pieces[i] += pieces.pop(i + 1)
                i += 1
        merges.append(ranking[0])
    return merges


@learn_merges.right("every word split again by all merges so far")
def learn_merges(word_counts, n_merges):
    merges = []
    for _ in range(n_merges):
        seen = collections.Counter()
        for word, count in word_counts.items():
            pieces = apply_merges(["▁", *word], merges)
            for pair in itertools.pairwise(pieces):
                seen.update({pair: count})
        best = min(seen.items(), key=lambda item: (-item[1], item[0]), default=None)
        if best is None:
            break
        merges.append(best[0])
    return merges


@learn_merges.right("a heap and recursion")
def learn_merges(word_counts, n_merges):
    def more(words, left):
        seen = collections.Counter()
        for pieces, count in words:
            for pair in itertools.pairwise(pieces):
                seen[pair] += count
        if left == 0 or not seen:
            return []
        heap = [(-count, pair) for pair, count in seen.items()]
        heapq.heapify(heap)
        _, best = heapq.heappop(heap)
        merged = [(apply_merges(pieces, [best]), count) for pieces, count in words]
        return [best, *more(merged, left - 1)]

    return more([(list("▁" + word), n) for word, n in word_counts.items()], n_merges)


@learn_merges.right("a long list with None between the words")
def learn_merges(word_counts, n_merges):
    text = []
    for word, count in word_counts.items():
        text += ["▁", *word, None] * count
    merges = []
    for _ in range(n_merges):
        seen = collections.Counter(
            pair for pair in itertools.pairwise(text) if None not in pair
        )
        if not seen:
            break
        best = min(seen, key=lambda pair: (-seen[pair], pair))
        merges.append(best)
        made = []
        for piece in text:
            if made and (made[-1], piece) == best:
                made[-1] += piece
            else:
                made.append(piece)
        text = made
    return merges


for description, spelled, names in (
    ("words without a ▁", "list(word)", "without the ▁ before"),
    ("the ▁ at the end", '[*word, "▁"]', "the ▁ after each word"),
    ("a ▁ at both ends", '["▁", *word, "▁"]', "both before and after"),
    ("an underscore", '["_", *word]', "underscore"),
    ("an end-of-word symbol, like Sennrich's", '[*word, "</w>"]', "</w> after"),
    (
        "an end-of-word symbol on the last letter",
        '[*word[:-1], word[-1] + "</w>"]',
        "last letter",
    ),
    ("a ▁ on the first letter", '["▁" + word[0], *word[1:]]', "first letter are one"),
    ("words in lower case", '["▁", *word.lower()]', "lower case"),
    ("only letters", '["▁", *filter(str.isalpha, word)]', "without their symbols"),
):
    learn_merges.wrong(description, swap('["▁", *word]', spelled), names=names)
learn_merges.wrong(
    "a ▁ that is never merged",
    swap("pairwise(pieces)", "pairwise(pieces[1:])"),
    names="without the ▁ before",
)
learn_merges.wrong(
    "each word counted once",
    swap("+= word_counts[word]", "+= 1"),
    names="words that each count once",
)
learn_merges.wrong(
    "each pair counted once per word",
    swap("in pairwise(pieces)", "in set(pairwise(pieces))"),
    names="count once per word",
)
learn_merges.wrong(
    "any two pieces of a word",
    swap("pairwise(pieces)", "itertools.combinations(pieces, 2)"),
    names="not necessarily adjacent",
)
learn_merges.wrong("the last word's count", swap("+=", "="), names="last word's count")
learn_merges.wrong(
    "(a, a) counted only once in aaa",
    swap(
        """
        for pair in pairwise(pieces):
            seen[pair] += word_counts[word]
        """,
        """
        for pair in set(pairwise(pieces)):
            times = len(pieces) - len(apply_merges(pieces, [pair]))
            seen[pair] += word_counts[word] * times
        """,
    ),
    names="only once in aaa",
)
for description, key, names in (
    ("ties broken by the first pair seen", "-seen[pair]", "seen first"),
    (
        "ties broken by the last pair seen",
        "(-seen[pair], -list(seen).index(pair))",
        "seen last",
    ),
    ("ties broken by the joined text", '(-seen[pair], "".join(pair))', "joined text"),
    ("ties broken by the second piece", "(-seen[pair], pair[::-1])", "second piece"),
    (
        "ties broken by the longest pair",
        '(-seen[pair], -len("".join(pair)), pair)',
        "the longest",
    ),
    (
        "ties broken by the shortest pair",
        '(-seen[pair], len("".join(pair)), pair)',
        "the shortest",
    ),
    ("the least frequent pair", "(seen[pair], pair)", "least frequent"),
):
    learn_merges.wrong(description, swap("(-seen[pair], pair)", key), names=names)
learn_merges.wrong(
    "ties broken by most_common",
    swap(
        "min(seen, key=lambda pair: (-seen[pair], pair))", "seen.most_common(1)[0][0]"
    ),
    names="seen first",
)
learn_merges.wrong(
    "ties broken by the greatest tuple",
    swap(
        "min(seen, key=lambda pair: (-seen[pair], pair))",
        "max(seen, key=lambda pair: (seen[pair], pair))",
    ),
    names="last pair in Python's order",
)
learn_merges.wrong(
    "one merge too many",
    swap("range(n_merges)", "range(n_merges + 1)"),
    names="more than n_merges",
)
learn_merges.wrong(
    "one merge too few",
    swap("range(n_merges)", "range(n_merges - 1)"),
    names="fewer than n_merges",
)
learn_merges.wrong(
    "an n_merges that is ignored",
    swap("range(n_merges)", "range(99)"),
    names="all possible merges",
)
learn_merges.wrong(
    "n_merges used as the vocabulary size",
    swap("range(n_merges)", 'range(n_merges - len({"▁", *"".join(word_counts)}))'),
    names="including letters",
)
learn_merges.wrong(
    "pairs that are counted but not merged",
    swap(
        "{word: apply_merges(spelled[word], merges[-1:]) for word in spelled}",
        "dict(spelled)",
    ),
    names="not merged",
)
learn_merges.wrong(
    "no merges of pairs that occur once",
    swap("if not seen:", "if max(seen.values(), default=0) < 2:"),
    names="at least twice",
)
learn_merges.wrong(
    "an error if no pair is left",
    drop("""
        if not seen:
            break
        """),
    names="a remaining pair",
)
for description, result, names in (
    (
        "merged pieces instead of pairs",
        '["".join(pair) for pair in merges]',
        "not the pairs",
    ),
    (
        "strings instead of pairs",
        '[" ".join(pair) for pair in merges]',
        "strings with a space",
    ),
    ("merges in alphabetical order", "sorted(merges)", "alphabetical order"),
    ("merges in reverse order", "merges[::-1]", "last to the first"),
    ("words split into pieces", "spelled", "words split into pieces"),
):
    learn_merges.wrong(
        description,
        swap("return merges", f"return {result}"),
        names=names,
    )
learn_merges.wrong(
    "words that are removed from the argument",
    insert("if word_counts:\n    word_counts.popitem()", before="return merges"),
    names="changed in place",
)
learn_merges.wrong(
    "one growing list for all calls",
    swap("merges = []", 'merges = learn_merges.__dict__.setdefault("merges", [])'),
    names="left in the list",
)
for description, key in (
    ("the words", "tuple(word_counts)"),
    ("n_merges", "n_merges"),
    ("the number of words", "len(word_counts)"),
):
    learn_merges.wrong(
        f"a result cached by {description}",
        insert(
            f"""
            kept, key = learn_merges.__dict__.setdefault("kept", {{}}), {key}
            if key in kept:
                return list(kept[key])
            """,
            before="merges = []",
        ),
        swap("return merges", "kept[key] = merges\nreturn list(merges)"),
        names="earlier call",
    )
learn_merges.wrong(
    "a fixed seed",
    insert("torch.manual_seed(0)", before="return"),
    names="the random state",
)


@learn_merges.wrong("all pairs counted only once", names="only once at the start")
def learn_merges(word_counts, n_merges):
    seen = collections.Counter()
    for word, count in word_counts.items():
        for pair in itertools.pairwise("▁" + word):
            seen[pair] += count
    return sorted(seen, key=lambda pair: (-seen[pair], pair))[:n_merges]


@learn_merges.wrong("all words in one long string", names="into the next")
def learn_merges(word_counts, n_merges):
    text = []
    for word, count in word_counts.items():
        text += ["▁", *word] * count
    merges = []
    for _ in range(n_merges):
        seen = collections.Counter(itertools.pairwise(text))
        if not seen:
            break
        merges.append(min(seen, key=lambda pair: (-seen[pair], pair)))
        text = apply_merges(text, merges[-1:])
    return merges


@learn_merges.wrong("a search in the text of each word", names="inside longer")
def learn_merges(word_counts, n_merges):
    spelled = {word: " ".join("▁" + word) for word in word_counts}
    merges = []
    for _ in range(n_merges):
        seen = collections.Counter()
        for word, text in spelled.items():
            for pair in itertools.pairwise(text.split()):
                seen[pair] += word_counts[word]
        if not seen:
            break
        left, right = min(seen, key=lambda pair: (-seen[pair], pair))
        merges.append((left, right))
        spelled = {
            word: text.replace(f"{left} {right}", left + right)
            for word, text in spelled.items()
        }
    return merges


@learn_merges.wrong(
    "a merge at one position of each word", names="one position of a word"
)
def learn_merges(word_counts, n_merges):
    spelled = {word: ["▁", *word] for word in word_counts}
    merges = []
    for _ in range(n_merges):
        seen = collections.Counter()
        for word, pieces in spelled.items():
            for pair in itertools.pairwise(pieces):
                seen[pair] += word_counts[word]
        if not seen:
            break
        best = min(seen, key=lambda pair: (-seen[pair], pair))
        merges.append(best)
        for pieces in spelled.values():
            found = list(itertools.pairwise(pieces))
            if best in found:
                place = found.index(best)
                pieces[place : place + 2] = ["".join(best)]
    return merges


@learn_merges.wrong(
    "the most frequent letters first", names="most frequent piece paired with"
)
def learn_merges(word_counts, n_merges):
    spelled = {word: ["▁", *word] for word in word_counts}
    merges = []
    for _ in range(n_merges):
        single, seen = collections.Counter(), collections.Counter()
        for word, pieces in spelled.items():
            for piece in pieces:
                single[piece] += word_counts[word]
            for pair in itertools.pairwise(pieces):
                seen[pair] += word_counts[word]
        if not seen:
            break
        best = min(single, key=lambda piece: (-single[piece], piece))
        behind = [pair for pair in seen if pair[0] == best] or list(seen)
        merges.append(min(behind, key=lambda pair: (-seen[pair], pair)))
        spelled = {word: apply_merges(spelled[word], merges[-1:]) for word in spelled}
    return merges


@learn_merges.wrong("WordPiece's score", names="as in WordPiece")
def learn_merges(word_counts, n_merges):
    spelled = {word: ["▁", *word] for word in word_counts}
    merges = []
    for _ in range(n_merges):
        single, seen = collections.Counter(), collections.Counter()
        for word, pieces in spelled.items():
            for piece in pieces:
                single[piece] += word_counts[word]
            for pair in itertools.pairwise(pieces):
                seen[pair] += word_counts[word]
        if not seen:
            break
        worth = {p: n / (single[p[0]] * single[p[1]]) for p, n in seen.items()}
        merges.append(min(worth, key=lambda pair: (-worth[pair], pair)))
        spelled = {word: apply_merges(spelled[word], merges[-1:]) for word in spelled}
    return merges


learn_merges.wrong("no merges", body("return []"), names="no merges")
learn_merges.wrong("nothing", body("return None"), diagnosed=False)


# --- Families of mistakes: found in a later review ----------------------------------

WEIGHTS = "float(sum(x.detach().double().sum() for x in model.parameters()))"
for description, key in (
    (
        "regardless of the source",
        "str([(x.tgt.tolist(), tuple(x.indices)) for x in batches])",
    ),
    (
        "regardless of the indices",
        "str([(x.src.tolist(), x.tgt.tolist()) for x in batches])",
    ),
    (
        "regardless of the target",
        "str([(x.src.tolist(), x.tgt.shape, tuple(x.indices)) for x in batches])",
    ),
):
    in_eval_mode.wrong(
        f"a result cached {description}",
        keep(f"({WEIGHTS}, {key})"),
        insert("batches = list(batches)", before="kept, key ="),
        names="kept from an earlier call",
    )
in_eval_mode.wrong(
    "gradients that are not switched off again",
    swap("with torch.no_grad():", "torch.set_grad_enabled(False)\nif True:"),
    swap(
        "model.train(was_training)",
        "torch.set_grad_enabled(True)\nmodel.train(was_training)",
    ),
    names="switches gradients on",
)
in_eval_mode.wrong(
    "indices sorted as strings",
    swap("sorted(rows)", "sorted(rows, key=lambda row: str(row[0]))"),
    names="as in string order",
)
in_eval_mode.wrong(
    "a table for 64 sentences",
    swap(
        "return torch.tensor(losses), torch.tensor(counts)",
        """
        table = torch.zeros(64)
        table[: len(losses)] = torch.tensor(losses)
        return table[: len(losses)], torch.tensor(counts)
        """,
    ),
    names="few sentences",
)
in_eval_mode.wrong(
    "8-bit indices",
    swap(
        "rows += zip(batch.indices,",
        "rows += zip(torch.tensor(batch.indices).to(torch.int8).tolist(),",
    ),
    names="few sentences",
)
in_eval_mode.wrong(
    "padding replaced by -100 and restored",
    insert(
        "padding = target == pad_id\ntarget[padding] = -100",
        before="losses =",
    ),
    swap("ignore_index=pad_id, ", ""),
    insert("target[padding] = pad_id", before="counts = (target"),
    names="changed in place",
)
in_eval_mode.wrong(
    "one tensor for the losses of all calls",
    swap(
        "return torch.tensor(losses), torch.tensor(counts)",
        """
    kept = sentence_losses.__dict__.setdefault("kept", torch.zeros(5000))
    kept[: len(losses)] = torch.tensor(losses)
    return kept[: len(losses)], torch.tensor(counts)
    """,
    ),
    names="results of all calls",
)
in_eval_mode.wrong(
    "model parameters that are frozen",
    insert("model.requires_grad_(False)", before="was_training ="),
    names="trained parameters",
)
in_eval_mode.wrong(
    "a call of len for the batches",
    insert("n = len(batches)", before="rows = []"),
    names="twice",
)
in_eval_mode.wrong(
    "losses in bfloat16",
    insert("losses = losses.bfloat16()", before="counts = (target"),
    diagnosed=False,
)
corpus_perplexity.wrong(
    "a perplexity rounded to two digits",
    swap(
        "return math.exp(losses.sum().item() / counts.sum().item())",
        "return round(math.exp(losses.sum().item() / counts.sum().item()), 2)",
    ),
    names="rounded to two",
)
corpus_perplexity.wrong(
    "a perplexity rounded to three digits",
    swap(
        "return math.exp(losses.sum().item() / counts.sum().item())",
        "return round(math.exp(losses.sum().item() / counts.sum().item()), 3)",
    ),
    names="rounded to three",
)
corpus_perplexity.wrong(
    "half precision",
    swap("losses.sum()", "losses.half().sum()"),
    diagnosed=False,
)
corpus_perplexity.wrong(
    "a bounded loss, as in some libraries",
    swap(
        "math.exp(losses.sum().item() / counts.sum().item())",
        "math.exp(min(losses.sum().item() / counts.sum().item(), 20))",
    ),
    names="a bound on",
)
corpus_perplexity.wrong(
    "the first 100 sentences",
    swap("losses.sum", "losses[:100].sum"),
    swap("counts.sum", "counts[:100].sum"),
    names="first hundred",
)
for upper in (20, 50, 100, 1000):
    bleu_by_length.wrong(
        f"sources of at most {upper} words",
        body(f"""
        table = []
        for low, high in itertools.pairwise([-1, *limits, {upper}]):
            g = [i for i, words in enumerate(sources) if low < len(words) <= high]
            pairs = [hypotheses[i] for i in g], [references[i] for i in g]
            table.append((len(g), corpus_bleu(*pairs) if g else None))
        return table
        """),
        names="upper limit for",
    )
bleu_by_length.wrong(
    "at most ten groups",
    swap("range(len(limits) + 1)", "range(10)"),
    swap("in groups", "in groups[: len(limits) + 1]"),
    names="certain number of groups",
)
for digits, words in ((0, "a whole number"), (1, "one digit"), (2, "two digits")):
    bleu_by_length.wrong(
        f"BLEU rounded to {words}",
        swap("corpus_bleu([", "round(corpus_bleu(["),
        swap("references[i] for i in g])", f"references[i] for i in g]), {digits})"),
        names=f"rounded to {words}",
    )
bleu_by_length.wrong(
    "groups kept between calls",
    swap(
        "groups = [[] for _ in range(len(limits) + 1)]",
        """
        groups = bleu_by_length.__dict__.setdefault("groups", [])
        groups += [[] for _ in range(len(limits) + 1 - len(groups))]
        """,
    ),
    diagnosed=False,
)


@bleu_by_length.wrong(
    "BLEU without the sentences that score 0", names="sentences that score 0"
)
def bleu_by_length(sources, hypotheses, references, limits):
    groups = [[] for _ in range(len(limits) + 1)]
    for place, words in enumerate(sources):
        groups[bisect.bisect_left(limits, len(words))].append(place)
    table = []
    for g in groups:
        kept = [i for i in g if corpus_bleu([hypotheses[i]], [references[i]]) > 0]
        score = (
            corpus_bleu([hypotheses[i] for i in kept], [references[i] for i in kept])
            if kept
            else 0.0
        )
        table.append((len(g), score if g else None))
    return table


for digits, words in ((1, "one digit"), (2, "two digits"), (3, "three digits")):
    bootstrap_interval.wrong(
        f"ends rounded to {words}",
        swap(
            "return scores.quantile(0.025).item(), scores.quantile(0.975).item()",
            f"""
            ends = scores.quantile(0.025).item(), scores.quantile(0.975).item()
            return tuple(round(end, {digits}) for end in ends)
            """,
        ),
        names=f"rounded to {words}",
    )
bootstrap_interval.wrong(
    "an interval without scores of 0",
    swap("scores = torch.tensor(", "found = ("),
    insert(
        "scores = torch.tensor([x for x in found if x > 0] or [0.0])", before="return"
    ),
    names="scores that are 0",
)
bootstrap_interval.wrong(
    "half precision",
    insert("scores = scores.half().float()", before="return"),
    diagnosed=False,
)
bootstrap_interval.wrong(
    "bfloat16",
    insert("scores = scores.bfloat16().float()", before="return"),
    diagnosed=False,
)
bootstrap_interval.wrong(
    "equal draws counted once",
    swap("draws.tolist()", "set(map(tuple, draws.tolist()))"),
    names="equal draws",
)
bootstrap_interval.wrong(
    "draws of the same sentences in any order counted once",
    swap("draws.tolist()", "set(tuple(sorted(x)) for x in draws.tolist())"),
    names="of the same sentences",
)
bootstrap_interval.wrong(
    "equal scores counted once",
    swap("scores = torch.tensor(", "found = ("),
    insert("scores = torch.tensor(sorted(set(found)))", before="return"),
    names="equal scores",
)


@copy_unknown_words.wrong("a dictionary of words", names="dictionary of the words")
def copy_unknown_words(target, cross_attention, source_words):
    average = cross_attention.mean(dim=(0, 1))[:, 1:-1].tolist()
    written = []
    for word, row in zip(target, average, strict=False):
        if word == "<unk>":
            by_word = dict(zip(source_words, row, strict=False))
            word = max(by_word, key=by_word.get)
        written.append(word)
    return written


for threshold in (0.01, 0.1):
    copy_unknown_words.wrong(
        f"no copies for weights below {threshold}",
        body(f"""
        average = cross_attention.mean(dim=(0, 1))[:, 1:-1]
        rows = zip(target, average.max(dim=-1).values, average.argmax(dim=-1))
        return [
            source_words[p] if w == "<unk>" and best > {threshold} else w
            for w, best, p in rows
        ]
        """),
        names="little weight",
    )
for dtype in ("half", "bfloat16"):
    copy_unknown_words.wrong(
        f"weights in {dtype}",
        swap(
            "cross_attention.mean(dim=(0, 1))",
            f"cross_attention.{dtype}().mean(dim=(0, 1))",
        ),
        names="with few digits",
    )
for decimals in (2, 3, 4):
    copy_unknown_words.wrong(
        f"weights rounded to {decimals} digits",
        swap("[:, 1:-1]", f"[:, 1:-1].round(decimals={decimals})"),
        names="with few digits",
    )
copy_unknown_words.wrong(
    "every word in angle brackets treated as unknown",
    swap('w == "<unk>"', 'w.startswith("<")'),
    names="in angle brackets",
)
copy_unknown_words.wrong(
    "one list for all calls",
    body("""
    places = cross_attention.mean(dim=(0, 1))[:, 1:-1].argmax(dim=-1).tolist()
    written = copy_unknown_words.__dict__.setdefault("written", [])
    written[:] = [
        source_words[p] if w == "<unk>" else w
        for w, p in zip(target, places, strict=False)
    ]
    return written
    """),
    names="results of all calls",
)
copy_unknown_words.wrong(
    "at most 20 words",
    swap("zip(target, places, strict=False)", "zip(target[:20], places, strict=False)"),
    diagnosed=False,
)
apply_merges.wrong(
    "one list for all calls",
    swap(
        "return list(pieces)",
        """
        made = apply_merges.__dict__.setdefault("made", [])
        made[:] = pieces
        return made
        """,
    ),
    names="results of all calls",
)
for most in (10, 20):
    apply_merges.wrong(
        f"at most {most} merges",
        swap("for pair in merges:", f"for pair in merges[:{most}]:"),
        names="a bound on",
    )
by_place.wrong(
    "at most 20 pieces",
    insert("pieces = pieces[:20]", before="for first, second"),
    names="a bound on",
)
learn_merges.wrong(
    "one list for all calls that is emptied each time",
    swap(
        "merges = []",
        'merges = learn_merges.__dict__.setdefault("merges", [])\nmerges.clear()',
    ),
    names="results of all calls",
)
for most in (10, 20):
    learn_merges.wrong(
        f"at most {most} merges",
        swap("range(n_merges)", f"range(min(n_merges, {most}))"),
        names="a bound on",
    )
learn_merges.wrong(
    "ties broken without regard to case",
    swap(
        "(-seen[pair], pair)",
        "(-seen[pair], pair[0].lower(), pair[1].lower(), pair)",
    ),
    names="ignoring case",
)
learn_merges.wrong(
    "ties broken with ▁ before all letters",
    swap("(-seen[pair], pair)", '(-seen[pair], pair[0].replace("▁", " "), pair[1])'),
    names="before all letters",
)
learn_merges.wrong(
    "ties broken by the order of a set",
    swap(
        "min(seen, key=lambda pair: (-seen[pair], pair))",
        "max(set(seen), key=seen.get)",
    ),
    diagnosed=False,
)
learn_merges.wrong(
    "code that needs a Counter",
    insert("word_counts.total()", before="merges = []"),
    diagnosed=False,
)


@learn_merges.wrong("counts that are added but never subtracted", diagnosed=False)
def learn_merges(word_counts, n_merges):
    spelled = {word: ["▁", *word] for word in word_counts}
    seen = collections.Counter()
    for word, pieces in spelled.items():
        for pair in itertools.pairwise(pieces):
            seen[pair] += word_counts[word]
    merges = []
    while seen and len(merges) < n_merges:
        best = min(seen, key=lambda pair: (-seen[pair], pair))
        merges.append(best)
        del seen[best]
        for word, pieces in spelled.items():
            made = apply_merges(pieces, [best])
            whole = "".join(best)
            for pair in itertools.pairwise(made):
                if whole in pair and made != pieces:
                    seen[pair] += word_counts[word]
            spelled[word] = made
    return merges


@learn_merges.right("counts that are kept up to date")
def learn_merges(word_counts, n_merges):
    spelled = {word: ["▁", *word] for word in word_counts}
    seen = collections.Counter()
    for word, pieces in spelled.items():
        for pair in itertools.pairwise(pieces):
            seen[pair] += word_counts[word]
    merges = []
    while len(merges) < n_merges:
        best = min(seen, key=lambda pair: (-seen[pair], pair), default=None)
        if best is None or seen[best] < 1:
            break
        merges.append(best)
        for word, pieces in spelled.items():
            made = apply_merges(pieces, [best])
            seen.subtract(
                dict(
                    (p, word_counts[word] * n)
                    for p, n in collections.Counter(itertools.pairwise(pieces)).items()
                )
            )
            for pair in itertools.pairwise(made):
                seen[pair] += word_counts[word]
            spelled[word] = made
    return merges


apply_merges.right(
    "a result cached by all arguments",
    insert(
        """
        kept, key = apply_merges.__dict__.setdefault("kept", {}), str((pieces, merges))
        if key in kept:
            return list(kept[key])
        """,
        before="for pair in merges:",
    ),
    swap("return list(pieces)", "kept[key] = list(pieces)\nreturn list(pieces)"),
)


@bleu_by_length.right("numpy numbers and counts from an array")
def bleu_by_length(sources, hypotheses, references, limits):
    lengths = np.array([len(words) for words in sources])
    which = np.searchsorted(np.array(limits, dtype=int), lengths)
    counts = np.bincount(which, minlength=len(limits) + 1)
    table = []
    for number, count in enumerate(counts):
        kept = np.flatnonzero(which == number)
        score = (
            corpus_bleu([hypotheses[i] for i in kept], [references[i] for i in kept])
            if count
            else None
        )
        table.append((count, None if score is None else np.float64(score)))
    return table


@copy_unknown_words.right("indices of the largest weights, found by sorting")
def copy_unknown_words(target, cross_attention, source_words):
    t, s = cross_attention.shape[-2:]
    total = cross_attention.reshape(-1, t, s).sum(0).double()
    order = total[:, 1 : s - 1].argsort(dim=-1, descending=True)
    return [
        source_words[order[i, 0]] if w == "<unk>" else w for i, w in enumerate(target)
    ]


@bootstrap_interval.right("numpy quantiles over all draws")
def bootstrap_interval(hypotheses, references, draws):
    h, r = np.array(hypotheses, dtype=object), np.array(references, dtype=object)
    scores = [
        corpus_bleu([h[i] for i in row], [r[i] for i in row]) for row in draws.numpy()
    ]
    return tuple(np.quantile(np.asarray(scores), [0.025, 0.975]))
