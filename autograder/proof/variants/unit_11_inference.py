"""Wrong variants and right styles of unit 11, as students write them."""

import math
from collections import Counter

import torch

from autograder.proof.variants import right, wrong
from transformer.model import evaluating
from transformer.translation.beams import Beams, length_penalty
from transformer.translation.ngrams import closest_length, count_ngrams, pair_sentences

# --- greedy_decode: wrong ----------------------------------------------------------


@wrong(
    "the argmax of the first position",
    diagnosed=True,
    names="argmax of the first position",
)
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, 0].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("the word is not appended", diagnosed=True, names="no token was appended")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("never stops at <eos>", diagnosed=True, names="never stops at <eos>")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
    return tgt


@wrong(
    "goes on writing after <eos> in a batch",
    diagnosed=True,
    names="goes on writing after <eos>",
)
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("pads up to max_len", diagnosed=True, names="pads to max_len")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
    return tgt


@wrong(
    "stops when the first sentence ends",
    diagnosed=True,
    names="stops when the first sentence ends",
)
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.any():
            break
    return tgt


@wrong(
    "feeds only the last token, without a cache",
    diagnosed=True,
    names="only the last token is fed",
)
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt[:, -1:], memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("the least probable word", diagnosed=True, names="least probable")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmin(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("<eos> again in place of padding", diagnosed=True, names="<eos> again and again")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, eos_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("zeros in place of padding", diagnosed=True, names="zeros after the end")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, 0)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("padding is always 1", diagnosed=True, names="padding with number 1")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, 1)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("without <sos>", diagnosed=True, names="without <sos>")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt[:, 1:]


@wrong("without the last token", diagnosed=True, names="without the last token")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt[:, :-1]


@wrong("one word less than max_len", diagnosed=True, names="one word less than max_len")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len - 1):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("one word more than max_len", diagnosed=True, names="one word more than max_len")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len + 1):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("encodes again in every step", diagnosed=True, names="encoded again and again")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        memory = model.encode(src)
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@wrong("<sos> and <eos> are always 2 and 3", diagnosed=True, names="usual numbers")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), 2)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == 3)
        if ended.all():
            break
    return tgt


@wrong("works for one sentence alone")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if word[0].item() == eos_id:
            break
    return tgt


@wrong("never asks the model", diagnosed=True, names="never asks the model")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    model.encode(src)
    return src


# --- greedy_decode: right ----------------------------------------------------------


@right("topk and a while loop")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = torch.full((len(src), 1), sos_id, dtype=src.dtype, device=src.device)
    done = torch.zeros(len(src), 1, dtype=torch.bool, device=src.device)
    while tgt.size(1) <= max_len and not bool(done.all()):
        logits = model.decode(tgt, memory, src)[0][:, -1]
        word = logits.topk(1, dim=-1).indices
        word = torch.where(done, torch.full_like(word, model.config.pad_id), word)
        tgt = torch.hstack((tgt, word))
        done = done | word.eq(eos_id)
    return tgt


@right("one sentence after the other")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    rows = []
    for i in range(len(src)):
        row = torch.tensor([i])
        own = memory[row]
        words = [sos_id]
        while len(words) <= max_len and (len(words) == 1 or words[-1] != eos_id):
            logits, _ = model.decode(torch.tensor([words]), own, src[row])
            words.append(int(logits[0, -1].argmax()))
        rows.append(words)
    longest = max(len(words) for words in rows)
    pad = model.config.pad_id
    return torch.tensor([words + [pad] * (longest - len(words)) for words in rows])


@right("probabilities and max")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1, :].softmax(dim=-1).max(dim=-1)[1]
        word = word.masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


@right("a table filled in, cut at the end")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    table = torch.full((src.shape[0], max_len + 1), model.config.pad_id)
    table[:, 0] = sos_id
    ended = torch.zeros(src.shape[0], dtype=torch.bool)
    written = 1
    for step in range(1, max_len + 1):
        logits, _ = model.decode(table[:, :step], memory, src)
        word = logits[:, -1].argmax(-1)
        table[~ended, step] = word[~ended]
        written = step + 1
        ended |= table[:, step] == eos_id
        if ended.all():
            break
    return table[:, :written]


@right("a list of columns")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    columns = [src.new_full((len(src),), sos_id)]
    going_on = torch.ones(len(src))
    for _ in range(max_len):
        logits, _ = model.decode(torch.stack(columns, dim=1), memory, src)
        word = torch.argmax(logits[:, -1].log_softmax(-1), dim=1)
        word = torch.where(going_on.bool(), word, model.config.pad_id)
        columns.append(word)
        going_on = going_on * (word != eos_id)
        if going_on.sum() == 0:
            break
    return torch.stack(columns, dim=1)


@right("asks the words themselves who has ended")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1)
        ended = (tgt == eos_id).any(dim=1)
        word[ended] = model.config.pad_id
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        if (tgt == eos_id).any(dim=1).all():
            break
    return tgt


# --- beam_search: wrong ------------------------------------------------------------


@wrong("length penalty forgotten", diagnosed=True, names="without the length penalty")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        worth = log_prob.flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong(
    "length penalty multiplied",
    diagnosed=True,
    names="multiplies by the length penalty",
)
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob * divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong(
    "divided by the length to the power of alpha",
    diagnosed=True,
    names="divides by n^α",
)
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = beams.next_length().float() ** settings.length_penalty
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("the length counts <sos>", diagnosed=True, names="length counts <sos>")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length() + 1, settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("the length of the last step", names="leaves the newest token out")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.length, settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("probabilities added", diagnosed=True, names="adds probabilities")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        word = logits[:, -1].softmax(dim=-1).view(b, k, -1)
        stay = torch.full_like(word, -torch.inf)
        stay[..., model.config.pad_id] = 0.0
        word = torch.where(beams.finished.unsqueeze(-1), stay, word)
        log_prob = beams.log_prob.unsqueeze(-1) + word
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong(
    "log-probabilities multiplied", diagnosed=True, names="multiplies log-probabilities"
)
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        word = logits[:, -1].log_softmax(dim=-1).view(b, k, -1)
        grown = beams.log_prob.unsqueeze(-1) * word
        if beams.tgt.size(-1) == 1:
            grown = beams.log_prob.unsqueeze(-1) + word
        stay = torch.full_like(word, -torch.inf)
        stay[..., model.config.pad_id] = 0.0
        stay = beams.log_prob.unsqueeze(-1) + stay
        log_prob = torch.where(beams.finished.unsqueeze(-1), stay, grown)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("scores in place of log-probabilities", diagnosed=True, names="adds scores")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        word = logits[:, -1].view(b, k, -1)
        stay = torch.full_like(word, -torch.inf)
        stay[..., model.config.pad_id] = 0.0
        word = torch.where(beams.finished.unsqueeze(-1), stay, word)
        log_prob = beams.log_prob.unsqueeze(-1) + word
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong(
    "the newest word alone", diagnosed=True, names="newest word's log-probability alone"
)
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        word = logits[:, -1].log_softmax(dim=-1).view(b, k, -1)
        stay = torch.full_like(word, -torch.inf)
        stay[..., model.config.pad_id] = 0.0
        stay = beams.log_prob.unsqueeze(-1) + stay
        word = word + 0 * beams.log_prob.clamp(min=-1e9).unsqueeze(-1)
        word[:, 1:] += -torch.inf if beams.tgt.size(-1) == 1 else 0
        log_prob = torch.where(beams.finished.unsqueeze(-1), stay, word)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("finished beams keep growing", diagnosed=True, names="go on growing")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        word = logits[:, -1].log_softmax(dim=-1).view(b, k, -1)
        log_prob = beams.log_prob.unsqueeze(-1) + word
        divisor = length_penalty(
            beams.tgt.new_tensor(beams.tgt.size(-1)).expand(b, k),
            settings.length_penalty,
        )
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("k independent greedies", diagnosed=True, names="greedy searches side by side")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        if beams.tgt.size(-1) == 1:
            score, best = worth.topk(k)
        else:
            own, best = worth.view(b, k, -1).max(dim=-1)
            best = best + torch.arange(k) * log_prob.size(-1)
            score, order = own.sort(descending=True)
            best = best.gather(1, order)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("words added to the wrong hypothesis")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(
            torch.arange(k).expand(b, k), word, log_prob, settings.eos_id
        )
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("starts with k equal hypotheses", diagnosed=True, names="k equal hypotheses")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    beams.log_prob.zero_()
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong(
    "repeat in place of repeat_interleave",
    diagnosed=True,
    names="memory of another sentence",
)
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat(k)
    memory, src = model.encode(src)[rows], src[rows]
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("the memory's rows stay where they were", diagnosed=True, names="memory's rows")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("rows chosen without the sentence")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = parent.flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("stops at the first hypothesis that ends")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.any():
            break
    return beams.tgt, score


@wrong("never stops", diagnosed=True, names="never stops at <eos>")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
    return beams.tgt, score


@wrong("the worst first", diagnosed=True, names="worst first")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt.flip(1), score.flip(1)


@wrong(
    "returns the log-probability",
    diagnosed=True,
    names="not divided by the length penalty",
)
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, beams.log_prob


@wrong("penalty at the end alone", diagnosed=True, names="only at the end")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        worth = log_prob.flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    score = score / length_penalty(beams.length, settings.length_penalty)
    score, order = score.sort(descending=True)
    copies = order.unsqueeze(-1).expand_as(beams.tgt)
    return beams.tgt.gather(1, copies), score


@wrong("one word less than max_len")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len - 1):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("the best alone", diagnosed=True, names="another number of results")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt[:, 0]


@wrong("alpha always 0.6")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), 0.6)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong(
    "the divided worth goes on", diagnosed=True, names="goes on with the divided worth"
)
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        beams = beams.extend(parent, word, score, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@wrong("never asks the model", diagnosed=True, names="never asks the model")
@evaluating
def beam_search(model, src, settings):
    return src, src


# --- beam_search: right ------------------------------------------------------------


@right("a list of hypotheses for each sentence")
@evaluating
def beam_search(model, src, settings):
    k, end = settings.beam_size, settings.eos_id
    memory = model.encode(src)
    found = []
    for i in range(len(src)):
        live = [([settings.sos_id], 0.0, False, memory[torch.tensor([i])])]
        for _ in range(settings.max_len):
            new = []
            for words, score, ended, own in live:
                if ended:
                    new.append((words, score, ended, own))
                    continue
                logits, _ = model.decode(torch.tensor([words]), own, src[i : i + 1])
                for word, value in enumerate(logits[0, -1].log_softmax(-1).tolist()):
                    new.append(([*words, word], score + value, word == end, own))
            new.sort(
                key=lambda h: h[1] / ((4 + len(h[0])) / 6) ** settings.length_penalty,
                reverse=True,
            )
            live = [(*h[:3], h[3][torch.tensor([0])]) for h in new[:k]]
            if all(h[2] for h in live):
                break
        found.append(live)
    longest = max(len(h[0]) for live in found for h in live)
    pad, alpha = model.config.pad_id, settings.length_penalty
    words = [[h[0] + [pad] * (longest - len(h[0])) for h in live] for live in found]
    worth = [[h[1] / ((4 + len(h[0])) / 6) ** alpha for h in live] for live in found]
    return torch.tensor(words), torch.tensor(worth)


@right("sort in place of topk")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.sort(dim=1, descending=True)
        score, best = score[:, :k], best[:, :k]
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@right("divmod and integer division")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        v = log_prob.shape[2]
        parent = torch.div(best, v, rounding_mode="floor")
        word = torch.remainder(best, v)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@right("the worth times the penalty is the log-probability")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob * divisor[:, :, None].reciprocal()).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = torch.gather(log_prob.reshape(b, -1), -1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@right("topk of each hypothesis, then of all")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        v = log_prob.size(-1)
        own, places = worth.view(b, k, v).topk(min(k, v), dim=-1)
        places = (places + torch.arange(k).view(1, k, 1) * v).flatten(1)
        score, among = own.flatten(1).topk(k)
        best = places.gather(1, among)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        if beams.finished.all():
            break
    return beams.tgt, score


@right("the penalty as exp of a logarithm, a while loop")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    while beams.tgt.size(-1) <= settings.max_len and not beams.finished.all():
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        length = beams.next_length().double()
        divisor = torch.exp(settings.length_penalty * torch.log((5 + length) / 6))
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
    return beams.tgt, score


@right("runs to max_len")
@evaluating
def beam_search(model, src, settings):
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b).repeat_interleave(k)
    memory, src = model.encode(src)[rows], src[rows]
    first = torch.arange(b).unsqueeze(1) * k
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        worth = (log_prob / divisor.unsqueeze(-1)).flatten(1)
        score, best = worth.topk(k)
        parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
        log_prob = log_prob.flatten(1).gather(1, best)
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        done = beams.finished.all()
        if done:
            return beams.tgt, score
    return beams.tgt, score


# --- decode_step_cached: wrong -----------------------------------------------------


@wrong("the cache stays as it was", diagnosed=True, names="leaves the cache as it was")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        key = torch.cat([cache.key, key], dim=2)
        value = torch.cat([cache.value, value], dim=2)
        q = attention.project_query(y)
        return attention.attend(q, key, value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong(
    "attends before the newest token is in the cache",
    diagnosed=True,
    names="before the newest token is in the cache",
)
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        q = attention.project_query(y)
        mask = None if tgt_mask is None else tgt_mask[..., :-1]
        output = attention.attend(q, cache.key, cache.value, mask)[0]
        cache.append(key, value)
        return output

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong("attends to the newest token alone", diagnosed=True, names="newest token alone")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(
            q, key, value, None if tgt_mask is None else tgt_mask[..., -1:]
        )[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong("adds in front", diagnosed=True, names="newest token in front")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.key = torch.cat([key, cache.key], dim=2)
        cache.value = torch.cat([value, cache.value], dim=2)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong("adds twice", diagnosed=True, names="newest token twice")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, None)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong(
    "keys and values change places",
    diagnosed=True,
    names="keys and values change places",
)
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(value, key)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong("keys in place of values", diagnosed=True, names="keys where values belong")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.key, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong("self-attention unmasked", diagnosed=True, names="self-attention has no mask")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong("cross-attention unmasked", diagnosed=True, names="cross-attention has no mask")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong("no masks", diagnosed=True, names="has no mask")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong("no residual", diagnosed=True, names="without residual connections")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1.norm(look_back(x))
    x = layer.add_norm2.norm(look_up(x))
    return layer.add_norm3.norm(layer.feed_forward(x)), kept["weights"]


@wrong(
    "one normalisation for all", diagnosed=True, names="one normalisation three times"
)
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm1(x, look_up)
    return layer.add_norm1(x, layer.feed_forward), kept["weights"]


@wrong(
    "asks with the layer's input", diagnosed=True, names="asks with the layer's input"
)
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}
    start = x

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(start)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong(
    "projects with the self-attention", diagnosed=True, names="with the self-attention"
)
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.self_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong(
    "without the feed-forward layer",
    diagnosed=True,
    names="without the feed-forward layer",
)
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return x, kept["weights"]


@wrong("pre-norm always", diagnosed=True, names="normalises before each sub-layer")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = x + look_back(layer.add_norm1.norm(x))
    x = x + look_up(layer.add_norm2.norm(x))
    return x + layer.feed_forward(layer.add_norm3.norm(x)), kept["weights"]


@wrong("post-norm always", diagnosed=True, names="norm_first=False alone")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1.norm(x + look_back(x))
    x = layer.add_norm2.norm(x + look_up(x))
    return layer.add_norm3.norm(x + layer.feed_forward(x)), kept["weights"]


@wrong(
    "returns the self-attention's weights",
    diagnosed=True,
    names="self-attention's weights",
)
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        output, own = attention.attend(q, cache.key, cache.value, tgt_mask)
        kept["own"] = own
        return output

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["own"]


@wrong("needs the masks", diagnosed=True, names="needs a mask")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask & tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@wrong("x alone", diagnosed=True, names="another number of results")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward)


# --- decode_step_cached: right -----------------------------------------------------


@right("a dictionary that catches the weights")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@right("a nonlocal name")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    weights = None

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key, value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        nonlocal weights
        q = layer.cross_attention.project_query(y)
        output, weights = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), weights


@right("the cache's tensors set by hand")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.key = torch.cat((cache.key, key), dim=-2)
        cache.value = torch.cat((cache.value, value), dim=-2)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept["weights"]


@right("both norms by hand")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    def before(add_norm, y):
        return add_norm.norm(y) if add_norm.norm_first else y

    def after(add_norm, y, output):
        y = y + add_norm.dropout(output)
        return y if add_norm.norm_first else add_norm.norm(y)

    y = before(layer.add_norm1, x)
    own = layer.self_attention
    cache.append(*own.project_key_value(y, y))
    output, _ = own.attend(own.project_query(y), cache.key, cache.value, tgt_mask)
    x = after(layer.add_norm1, x, output)
    y = before(layer.add_norm2, x)
    output, weights = layer.cross_attention.attend(
        layer.cross_attention.project_query(y),
        cache.memory_key,
        cache.memory_value,
        src_mask,
    )
    x = after(layer.add_norm2, x, output)
    output = layer.feed_forward(before(layer.add_norm3, x))
    return after(layer.add_norm3, x, output), weights


@right("a list for the weights, keyword arguments")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = []

    def look_back(y):
        attention = layer.self_attention
        key, value = attention.project_key_value(y, y)
        cache.append(key=key, value=value)
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, weights = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        kept.append(weights)
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return layer.add_norm3(x, layer.feed_forward), kept.pop()


@right("a list of results, query first")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    kept = {}

    def look_back(y):
        attention = layer.self_attention
        q = attention.project_query(y)
        key, value = attention.project_key_value(key=y, value=y)
        cache.append(key, value)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y):
        q = layer.cross_attention.project_query(y)
        output, kept["weights"] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return output

    x = layer.add_norm1(x, look_back)
    x = layer.add_norm2(x, look_up)
    return [layer.add_norm3(x, layer.feed_forward), kept["weights"]]


# --- ngram_precision: wrong --------------------------------------------------------


@wrong("no clipping", diagnosed=True, names="without clipping")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += sum(count for gram, count in found.items() if gram in most)
        total += found.total()
    return matches, total


@wrong("distinct n-grams", diagnosed=True, names="distinct n-grams")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += len(set(found) & set(most))
        total += len(found)
    return matches, total


@wrong("each n-gram may match once", diagnosed=True, names="may match once")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += len(set(found) & set(most))
        total += found.total()
    return matches, total


@wrong("the first reference alone", diagnosed=True, names="first reference alone")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known[:1]:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("the last reference alone", diagnosed=True, names="last reference alone")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most = count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("references added up", diagnosed=True, names="references added up")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most += count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("what all references confirm", names="all references confirm")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = count_ngrams(known[0], n)
        for reference in known:
            most &= count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("arguments swapped", names="arguments swapped")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(
        [known[0] if isinstance(known[0], list) else known for known in references],
        hypotheses,
    )
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("clipped over the whole corpus", diagnosed=True, names="clipped as a whole")
def ngram_precision(hypotheses, references, n):
    found, most = Counter(), Counter()
    for hypothesis, known in pair_sentences(hypotheses, references):
        found += count_ngrams(hypothesis, n)
        largest = Counter()
        for reference in known:
            largest |= count_ngrams(reference, n)
        most += largest
    return (found & most).total(), found.total()


@wrong("the total of the references", diagnosed=True, names="total of the references")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += count_ngrams(known[0], n).total()
    return matches, total


@wrong("n + 1", diagnosed=True, names="(n + 1)-grams")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n + 1)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n + 1)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("<sos> and <eos> left in", diagnosed=True, names="<sos> and <eos> left in")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        hypothesis = ["<sos>", *hypothesis, "<eos>"]
        known = [["<sos>", *reference, "<eos>"] for reference in known]
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("<eos> left in", diagnosed=True, names="<eos> left in")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        hypothesis = [*hypothesis, "<eos>"]
        known = [[*reference, "<eos>"] for reference in known]
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("the last token always cut", diagnosed=True, names="last token always cut")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis[:-1], n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("smoothing added", diagnosed=True, names="one added to both")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches + 1, total + 1


@wrong("the quotient", names="quotient")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches / max(total, 1)


@wrong("pops the tokens", diagnosed=True, names="changed in place")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        if hypothesis:
            hypothesis.pop()
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@wrong("0 of 0", names="the counts of")
def ngram_precision(hypotheses, references, n):
    return 0, 0


@wrong("counted by sacreBLEU")
def ngram_precision(hypotheses, references, n):
    from sacrebleu.metrics import BLEU

    pairs = pair_sentences(hypotheses, references)
    most = max(len(known) for _, known in pairs)
    columns = [
        [" ".join(known[i]) if i < len(known) else None for _, known in pairs]
        for i in range(most)
    ]
    bleu = BLEU(tokenize="none", max_ngram_order=max(n, 4))
    found = bleu.corpus_score([" ".join(words) for words, _ in pairs], columns)
    return found.counts[n - 1], found.totals[n - 1]


# --- ngram_precision: right --------------------------------------------------------


@right("counts by hand")
def ngram_precision(hypotheses, references, n):
    def count(tokens):
        counts = {}
        for i in range(len(tokens) - n + 1):
            gram = tuple(tokens[i : i + n])
            counts[gram] = counts.get(gram, 0) + 1
        return counts

    matches, total = 0, 0
    for hypothesis, known in pair_sentences(hypotheses, references):
        written = count(hypothesis)
        tables = [count(reference) for reference in known]
        for gram, number in written.items():
            total += number
            matches += min(number, max(table.get(gram, 0) for table in tables))
    return matches, total


@right("sums of values")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += sum((found & most).values())
        total += sum(found.values())
    return matches, total


@right("the number of n-grams from the length")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        matches += (found & most).total()
        total += max(len(hypothesis) - n + 1, 0)
    return matches, total


@right("min for each n-gram")
def ngram_precision(hypotheses, references, n):
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        for gram in found:
            matches += min(found[gram], most[gram])
        total += found.total()
    return matches, total


@right("crosses out what has matched")
def ngram_precision(hypotheses, references, n):
    matches = total = 0
    for hypothesis, known in pair_sentences(hypotheses, references):
        left = Counter()
        for reference in known:
            left |= Counter(zip(*(reference[i:] for i in range(n)), strict=False))
        for gram in zip(*(hypothesis[i:] for i in range(n)), strict=False):
            total += 1
            if left[gram] > 0:
                left[gram] -= 1
                matches += 1
    return matches, total


@right("a list of both numbers")
def ngram_precision(hypotheses, references, n):
    result = [0, 0]
    for hypothesis, known in pair_sentences(hypotheses, references):
        found = count_ngrams(hypothesis, n)
        counts = [count_ngrams(reference, n) for reference in known]
        best = {gram: max(count[gram] for count in counts) for gram in found}
        result[0] += sum(min(found[gram], best[gram]) for gram in found)
        result[1] += found.total()
    return result


# --- corpus_bleu: wrong ------------------------------------------------------------


@wrong("no brevity penalty", diagnosed=True, names="without the brevity penalty")
def corpus_bleu(hypotheses, references, max_n=4):
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    return 100 * math.exp(mean_log)


@wrong("penalty inverted", diagnosed=True, names="penalty inverted")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - written / wanted))


@wrong("a penalty for what is too long too", diagnosed=True, names="too long as well")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + 1 - wanted / written)


@wrong("the quotient of the lengths", diagnosed=True, names="quotient of the lengths")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log) * min(1.0, written / wanted)


@wrong("no clipping", diagnosed=True, names="BLEU without clipping")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = []
    for n in range(1, max_n + 1):
        matches = total = 0
        for hypothesis, known in pairs:
            found = count_ngrams(hypothesis, n)
            grams = {gram for one in known for gram in count_ngrams(one, n)}
            matches += sum(found[gram] for gram in grams)
            total += found.total()
        counts.append((matches, total))
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("distinct n-grams", diagnosed=True, names="BLEU of distinct")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = []
    for n in range(1, max_n + 1):
        matches = total = 0
        for hypothesis, known in pairs:
            found = count_ngrams(hypothesis, n)
            grams = {gram for one in known for gram in count_ngrams(one, n)}
            matches += len(grams & set(found))
            total += len(found)
        counts.append((matches, total))
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("an arithmetic mean", diagnosed=True, names="arithmetic mean")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean = sum(matches / total for matches, total in counts) / max_n
    mean_log = math.log(mean)
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("without the root", diagnosed=True, names="without the root")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts)
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("4-grams alone", diagnosed=True, names="longest n-grams alone")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = math.log(counts[-1][0] / counts[-1][1])
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong(
    "the mean of the sentences' scores",
    diagnosed=True,
    names="mean of the sentences' scores",
)
def corpus_bleu(hypotheses, references, max_n=4):
    scores = []
    for hypothesis, known in pair_sentences(hypotheses, references):
        counts = [ngram_precision([hypothesis], [known], n + 1) for n in range(max_n)]
        if any(matches == 0 for matches, _ in counts):
            scores.append(0.0)
            continue
        log = sum(math.log(matches / total) for matches, total in counts) / max_n
        wanted = closest_length(len(hypothesis), known)
        scores.append(100 * math.exp(log + min(0.0, 1 - wanted / len(hypothesis))))
    return sum(scores) / len(scores)


@wrong("smoothing added", diagnosed=True, names="(smoothing)")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    mean_log = (
        sum(math.log((matches + 1) / (total + 1)) for matches, total in counts) / max_n
    )
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("arguments swapped", diagnosed=True, names="arguments swapped")
def corpus_bleu(hypotheses, references, max_n=4):
    swapped = [one[0] if isinstance(one[0], list) else one for one in references]
    hypotheses, references = swapped, hypotheses
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("<eos> left in", diagnosed=True, names="with <eos> left in")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    hypotheses = [[*hypothesis, "<eos>"] for hypothesis, _ in pairs]
    references = [[[*one, "<eos>"] for one in known] for _, known in pairs]
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("<sos> and <eos> left in", diagnosed=True, names="<sos> and <eos> left in")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    hypotheses = [["<sos>", *hypothesis, "<eos>"] for hypothesis, _ in pairs]
    references = [[["<sos>", *one, "<eos>"] for one in known] for _, known in pairs]
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("the last token always cut", diagnosed=True, names="last token always cut")
def corpus_bleu(hypotheses, references, max_n=4):
    hypotheses = [hypothesis[:-1] for hypothesis in hypotheses]
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("a fraction", diagnosed=True, names="as a fraction")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("always up to 4", diagnosed=True, names="up to another length")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(4)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / 4
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("the first reference's length", diagnosed=True, names="first reference's length")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(len(known[0]) for _, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong(
    "the shortest reference's length",
    diagnosed=True,
    names="shortest reference's length",
)
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(min(len(one) for one in known) for _, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong(
    "the longest reference's length", diagnosed=True, names="longest reference's length"
)
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(max(len(one) for one in known) for _, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("the logarithm of 0", diagnosed=True, names="logarithm of 0")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@wrong("the penalty before the zeros", diagnosed=True, names="the number of words")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    c = sum(len(hypothesis) for hypothesis, _ in pairs)
    r = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    penalty = 1.0 if c >= r else math.exp(1 - r / c)
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    return 100 * penalty * math.exp(mean_log)


@wrong(
    "the first of two equally near lengths", diagnosed=True, names="the first of two"
)
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    c = sum(len(hypothesis) for hypothesis, _ in pairs)
    r = sum(
        min((len(one) for one in known), key=lambda length: abs(length - len(tokens)))
        for tokens, known in pairs
    )
    return 100 * math.exp(mean_log + min(0.0, 1 - r / c))


@wrong("the longer of two equally near", diagnosed=True, names="the longer of two")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    c = r = 0
    for tokens, known in pairs:
        c += len(tokens)
        r += max((-abs(len(one) - len(tokens)), len(one)) for one in known)[1]
    return 100 * math.exp(mean_log + min(0.0, 1 - r / c))


@wrong("torchtext's bleu_score")
def corpus_bleu(hypotheses, references, max_n=4):
    from torchtext.data.metrics import bleu_score

    pairs = pair_sentences(hypotheses, references)
    if not any(hypotheses):
        return 0.0
    written, known = zip(*pairs, strict=True)
    return 100 * bleu_score(written, known, max_n, [1 / max_n] * max_n)


@wrong("always 0")
def corpus_bleu(hypotheses, references, max_n=4):
    return 0.0


# --- corpus_bleu: right ------------------------------------------------------------


@right("a product and a root")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean = math.prod(matches / total for matches, total in counts) ** (1 / max_n)
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * mean * math.exp(min(0.0, 1 - wanted / written))


@right("the penalty with an if")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    penalty = 1.0 if written > wanted else math.exp(1 - wanted / written)
    return 100 * penalty * math.exp(mean_log)


@right("torch")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    table = torch.tensor(counts, dtype=torch.float64)
    mean_log = (table[:, 0] / table[:, 1]).log().mean().item()
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@right("a loop over n that returns early")
def corpus_bleu(hypotheses, references, max_n=4):
    log = 0.0
    for n in range(1, max_n + 1):
        matches, total = ngram_precision(hypotheses, references, n)
        if not matches:
            return 0.0
        log += (math.log(matches) - math.log(total)) / max_n
    c = r = 0
    for tokens, known in pair_sentences(hypotheses, references):
        c += len(tokens)
        r += min((len(one) for one in known), key=lambda m: (abs(m - len(tokens)), m))
    return math.exp(log) * math.exp(min(1 - r / c, 0)) * 100


@right("precisions first, max of the quotient")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + 1 - max(1.0, wanted / written))


@right("min over all for zero")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if min(matches for matches, _ in counts) == 0:
        return 0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))


@right("a name of its own that torchtext has too")
def corpus_bleu(hypotheses, references, max_n=4):
    bleu_score = 100.0
    for n in range(1, max_n + 1):
        matches, total = ngram_precision(hypotheses, references, n)
        if matches == 0:
            return 0.0
        bleu_score *= (matches / total) ** (1 / max_n)
    pairs = pair_sentences(hypotheses, references)
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return bleu_score * math.exp(min(0.0, 1 - wanted / written))
