"""Wrong variants and right styles of unit 11, as students write them."""

# ruff: noqa: B006 (a mutable default keeps values between calls)

import math
from collections import Counter

import torch

from autograder.proof.variants import answer, body, drop, insert, swap
from transformer.model import evaluating
from transformer.translation.ngrams import closest_length, count_ngrams, pair_sentences

# --- greedy_decode ----------------------------------------------------------------

greedy_decode = answer("transformer.translation.inference.greedy_decode")
greedy_decode.wrong(
    "the argmax of the first position",
    swap("[:, -1]", "[:, 0]"),
    names="argmax of the first position",
)
greedy_decode.wrong(
    "the word is not appended",
    swap("tgt = torch", "torch"),
    names="no token was appended",
)
greedy_decode.wrong(
    "never stops at <eos>",
    drop(".masked_fill(ended, model.config.pad_id)"),
    drop("""
        if ended.all():
            break
        """),
)
greedy_decode.wrong(
    "words after <eos> in a batch",
    drop(".masked_fill(ended, model.config.pad_id)"),
    names="continues after <eos>",
)
greedy_decode.wrong(
    "pads up to max_len",
    drop("""
        if ended.all():
            break
        """),
    names="pads to max_len",
)
greedy_decode.wrong("stops when the first sentence ends", swap("all", "any"))
greedy_decode.wrong(
    "feeds only the last token, without a cache",
    swap("tgt, memory", "tgt[:, -1:], memory"),
    names="reads only the last token",
)
greedy_decode.wrong(
    "the least probable word", swap("argmax", "argmin"), names="least probable"
)
greedy_decode.wrong(
    "repeated <eos> instead of padding",
    swap("model.config.pad_id", "eos_id"),
    names="repeated <eos>",
)
greedy_decode.wrong(
    "zeros instead of padding",
    swap("model.config.pad_id", "0"),
    names="zeros after the end",
)
greedy_decode.wrong(
    "padding is always 1",
    swap("model.config.pad_id", "1"),
    names="padding with id 1",
)
greedy_decode.wrong("without <sos>", swap("return tgt", "return tgt[:, 1:]"))
greedy_decode.wrong("without the last token", swap("return tgt", "return tgt[:, :-1]"))
greedy_decode.wrong("one word fewer than max_len", swap("(max_len)", "(max_len - 1)"))
greedy_decode.wrong("one word more than max_len", swap("(max_len)", "(max_len + 1)"))
greedy_decode.wrong(
    "a source encoded again in every step",
    insert("memory = model.encode(src)", before="logits, _"),
    names="encoded repeatedly",
)
greedy_decode.wrong(
    "<sos> and <eos> are always 2 and 3",
    swap(", sos_id", ", 2"),
    swap("== eos_id", "== 3"),
    names="usual ids",
)
greedy_decode.wrong(
    "a search for only one sentence",
    drop(".masked_fill(ended, model.config.pad_id)"),
    swap("ended.all()", "word[0].item() == eos_id"),
    diagnosed=False,
)


greedy_decode.wrong(
    "a result cached by shape",
    insert(
        """
        known = globals().setdefault("known_words", {})
        place = torch.initial_seed(), src.shape, max_len
        if place in known:
            return known[place]
        """,
        before="memory =",
    ),
    swap("return tgt", "return known.setdefault(place, tgt)"),
    names="kept from an earlier call",
)
greedy_decode.wrong(
    "the source emptied at the end",
    insert("src.zero_()", before="return tgt"),
    names="changed in place",
)
greedy_decode.wrong(
    "the source's padding, changed and restored",
    insert("src.copy_(src.clone())", before="memory ="),
    names="changed in place",
)


@greedy_decode.wrong("never calls the model")
@evaluating
def greedy_decode(model, src, max_len=50, sos_id=2, eos_id=3):
    model.encode(src)
    return src


@greedy_decode.right("topk and a while loop")
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


@greedy_decode.right("one sentence after the other")
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


greedy_decode.right(
    "probabilities and max",
    swap(
        "[:, -1].argmax(dim=-1)",
        """
        [:, -1, :].softmax(dim=-1).max(dim=-1)[1]
        word = word
        """,
    ),
)


@greedy_decode.right("a table filled in, cut at the end")
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


@greedy_decode.right("a list of columns")
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


@greedy_decode.right("asks the words themselves who has ended")
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


# --- prune ---------------------------------------------------------------------

prune = answer("transformer.translation.inference.prune")
prune.wrong(
    "no length penalty",
    swap("/ length_penalty(length, alpha).unsqueeze(-1)", ""),
    names="without the length penalty",
)
prune.wrong(
    "length penalty multiplied",
    swap("/ length_penalty", "* length_penalty"),
    names="multiplies by the length penalty",
)
prune.wrong(
    "divided by the length to the power of alpha",
    swap("length_penalty(length, alpha)", "(length.float() ** alpha)"),
    names="divides by n^α",
)
prune.wrong("α fixed at 0.6", swap("alpha)", "0.6)"), names="always 0.6")
prune.wrong(
    "the penalty of the first hypothesis for all",
    swap("length, alpha", "length[:, :1], alpha"),
    names="first hypothesis's penalty",
)
prune.wrong(
    "the penalty only in the returned score",
    swap(
        "score, best = score.flatten(1).topk(log_prob.size(1))",
        """
        best = log_prob.flatten(1).topk(log_prob.size(1)).indices
        score = score.flatten(1).gather(1, best)
        """,
    ),
    names="only in the returned scores",
)
prune.wrong(
    "k greedy searches side by side",
    swap(
        "score, best = score.flatten(1).topk(log_prob.size(1))",
        """
        score, best = score.max(dim=-1)
        best = best + torch.arange(log_prob.size(1)) * log_prob.size(-1)
        score, order = score.sort(descending=True)
        best = best.gather(1, order)
        """,
    ),
    names="best word of each hypothesis",
)
prune.wrong(
    "all sentences compete",
    swap(
        "topk(log_prob.size(1))",
        "flatten().topk(len(log_prob) * log_prob.size(1))",
    ),
    insert(
        """
        score, best = score.view(len(log_prob), -1), best.view(len(log_prob), -1)
        best = best % (log_prob.size(1) * log_prob.size(2))
        """,
        before="parent, word = best",
    ),
    names="the candidates of all sentences",
)
prune.wrong(
    "the worst first",
    swap(
        "return parent, word, log_prob.flatten(1).gather(1, best), score",
        """
        log_prob = log_prob.flatten(1).gather(1, best)
        return parent.flip(1), word.flip(1), log_prob.flip(1), score.flip(1)
        """,
    ),
    names="worst first",
)
prune.wrong(
    "the k worst",
    swap("size(1))", "size(1), largest=False)"),
    names="the k worst",
)
prune.wrong(
    "parent and word swapped",
    swap("return parent, word", "return word, parent"),
    names="parent and word are swapped",
)
prune.wrong(
    "place // k and place % k",
    swap("// log_prob.size(-1)", "// log_prob.size(1)"),
    swap("% log_prob.size(-1)", "% log_prob.size(1)"),
    names="assumes k words",
)
prune.wrong(
    "the divided score as log-probability",
    swap("log_prob.flatten(1).gather(1, best), score", "score, score"),
    names="divided by the length penalty",
)
prune.wrong(
    "the log-probability as score",
    swap(
        "return parent, word, log_prob.flatten(1).gather(1, best), score",
        """
        log_prob = log_prob.flatten(1).gather(1, best)
        return parent, word, log_prob, log_prob
        """,
    ),
    names="not divided by the length penalty",
)
prune.wrong(
    "three results",
    swap("log_prob.flatten(1).gather(1, best), score", "score"),
    names="a different number of results",
)
prune.wrong(
    "indices that assume 7 words",
    swap("// log_prob.size(-1)", "// 7"),
    swap("% log_prob.size(-1)", "% 7"),
    names="assumes 7 words",
)
prune.wrong(
    "always two hypotheses",
    swap("topk(log_prob.size(1))", "topk(2)"),
    diagnosed=False,
)
prune.wrong(
    "ranked in half precision",
    swap(
        "score, best = score.flatten(1).topk(log_prob.size(1))",
        """
        best = score.flatten(1).half().topk(log_prob.size(1)).indices
        score = score.flatten(1).gather(1, best)
        """,
    ),
    names="too few digits",
)
prune.wrong(
    "in half precision",
    swap("score = log_prob", "score = log_prob.half()"),
    diagnosed=False,
)
prune.wrong(
    "minus infinity replaced by a number",
    insert("log_prob = log_prob.clamp(min=-50)", before="score = log_prob"),
    diagnosed=False,
)
prune.wrong(
    "zeros",
    body("""
    nothing = torch.zeros(length.shape).long()
    return nothing, nothing, nothing.float(), nothing.float()
    """),
    names="zeros in all",
)

prune.wrong(
    "k words of each hypothesis, with a k of at most V",
    swap(
        "score, best = score.flatten(1).topk(log_prob.size(1))",
        """
        _, k, v = log_prob.shape
        own, places = score.topk(k, dim=-1)
        places = (places + torch.arange(k).to(places).view(1, k, 1) * v).flatten(1)
        score, among = own.flatten(1).topk(k)
        best = places.gather(1, among)
        """,
    ),
    names="needs a k of at most V",
)

prune.right(
    "sort in place of topk",
    swap(
        "topk(log_prob.size(1))",
        """
        sort(dim=1, descending=True)
        k = log_prob.shape[1]
        score, best = score[:, :k], best[:, :k]
        """,
    ),
)
prune.right(
    "divmod and integer division",
    swap(
        "parent, word = best // log_prob.size(-1), best % log_prob.size(-1)",
        """
        v = log_prob.shape[2]
        parent = torch.div(best, v, rounding_mode="floor")
        word = torch.remainder(best, v)
        """,
    ),
)
prune.right(
    "the score times the penalty is the log-probability",
    swap(
        "/ length_penalty(length, alpha).unsqueeze(-1)",
        "* length_penalty(length, alpha)[:, :, None].reciprocal()",
    ),
    swap(
        "log_prob.flatten(1).gather(1, best)",
        "torch.gather(log_prob.reshape(len(log_prob), -1), -1, best)",
    ),
)
prune.right(
    "topk of each hypothesis, then of all",
    swap(
        "score, best = score.flatten(1).topk(log_prob.size(1))",
        """
        _, k, v = log_prob.shape
        own, places = score.topk(min(k, v), dim=-1)
        places = (places + torch.arange(k).to(places).view(1, k, 1) * v).flatten(1)
        score, among = own.flatten(1).topk(k)
        best = places.gather(1, among)
        """,
    ),
)
prune.right(
    "the penalty as exp of a logarithm",
    swap(
        "length_penalty(length, alpha)",
        "torch.exp(alpha * torch.log((5 + length.double()) / 6))",
    ),
)


@prune.right("Python lists")
def prune(log_prob, length, alpha):
    b, k, v = log_prob.shape
    kept = []
    for i in range(b):
        ways = []
        for place in range(k):
            divisor = ((5 + int(length[i, place])) / 6) ** alpha
            for word in range(v):
                value = float(log_prob[i, place, word])
                ways.append((value / divisor, place, word, value))
        ways.sort(key=lambda way: way[0], reverse=True)
        kept.append(ways[:k])
    score, parent, word, value = (
        torch.tensor([[way[part] for way in ways] for ways in kept])
        for part in range(4)
    )
    return parent, word, value, score


# --- beam_search ------------------------------------------------------------------

ROWS_OF_ANSWER = (
    swap(
        """
        rows = torch.arange(b * k, device=src.device).view(b, k)
        memory, src = model.encode(src)[rows.flatten() // k], src[rows.flatten() // k]
        """,
        """
        rows = torch.arange(b).repeat_interleave(k)
        memory, src = model.encode(src)[rows], src[rows]
        first = torch.arange(b).unsqueeze(1) * k
        """,
    ),
    swap(
        "rows_kept = rows.gather(1, parent).flatten()",
        "chosen = (first + parent).flatten()",
    ),
    swap("memory[rows_kept], src[rows_kept]", "memory[chosen], src[chosen]"),
)
ANSWERED = "log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)"
STAY = """
        stay = torch.full_like(word, -torch.inf)
        stay[..., model.config.pad_id] = 0.0"""

beam_search = answer("transformer.translation.inference.beam_search", *ROWS_OF_ANSWER)
beam_search.wrong(
    "no length penalty",
    swap("settings.length_penalty", "0.0"),
    names="without the length penalty",
)
beam_search.wrong(
    "length penalty multiplied",
    swap("settings.length_penalty", "-settings.length_penalty"),
    names="multiplies by the length penalty",
)
beam_search.wrong(
    "α fixed at 0.6", swap("settings.length_penalty", "0.6"), names="always 0.6"
)
beam_search.wrong(
    "the length counts <sos>",
    swap("next_length()", "next_length() + 1"),
    names="length counts <sos>",
)
beam_search.wrong(
    "the length of the last step",
    swap("next_length()", "length"),
    names="does not count the newest token",
)
beam_search.wrong(
    "probabilities added",
    swap(
        ANSWERED,
        f"""
        word = logits[:, -1].softmax(dim=-1).view(b, k, -1){STAY}
        word = torch.where(beams.finished.unsqueeze(-1), stay, word)
        log_prob = beams.log_prob.unsqueeze(-1) + word
        """,
    ),
    names="adds probabilities",
)
beam_search.wrong(
    "log-probabilities multiplied",
    swap(
        ANSWERED,
        f"""
        word = logits[:, -1].log_softmax(dim=-1).view(b, k, -1)
        grown = beams.log_prob.unsqueeze(-1) * word
        if beams.tgt.size(-1) == 1:
            grown = beams.log_prob.unsqueeze(-1) + word{STAY}
        stay = beams.log_prob.unsqueeze(-1) + stay
        log_prob = torch.where(beams.finished.unsqueeze(-1), stay, grown)
        """,
    ),
    names="multiplies log-probabilities",
)
beam_search.wrong(
    "scores in place of log-probabilities",
    swap(
        ANSWERED,
        f"""
        word = logits[:, -1].view(b, k, -1){STAY}
        word = torch.where(beams.finished.unsqueeze(-1), stay, word)
        log_prob = beams.log_prob.unsqueeze(-1) + word
        """,
    ),
    names="adds scores",
)
beam_search.wrong(
    "only the newest word's log-probability",
    swap(
        ANSWERED,
        f"""
        word = logits[:, -1].log_softmax(dim=-1).view(b, k, -1){STAY}
        stay = beams.log_prob.unsqueeze(-1) + stay
        word = word + 0 * beams.log_prob.clamp(min=-1e9).unsqueeze(-1)
        word[:, 1:] += -torch.inf if beams.tgt.size(-1) == 1 else 0
        log_prob = torch.where(beams.finished.unsqueeze(-1), stay, word)
        """,
    ),
    names="only the newest word's log-probability",
)
beam_search.wrong(
    "finished hypotheses that continue to grow",
    swap(
        ANSWERED,
        """
        word = logits[:, -1].log_softmax(dim=-1).view(b, k, -1)
        log_prob = beams.log_prob.unsqueeze(-1) + word
        """,
    ),
    swap("beams.next_length()", "src.new_full((b, k), beams.tgt.size(-1))"),
    names="continue to grow",
)
beam_search.wrong(
    "words added to the wrong hypothesis",
    swap("(parent, word,", "(torch.arange(k).expand(b, k), word,"),
    names="the wrong hypothesis",
)
beam_search.wrong(
    "starts with k equal hypotheses",
    swap(
        "(src, settings)",
        """
        (src, settings)
        beams.log_prob.zero_()
        """,
    ),
    names="k equal hypotheses",
)
MEMORY_STAYS = (
    drop("first = torch.arange(b).unsqueeze(1) * k"),
    drop("""
        chosen = (first + parent).flatten()
        memory, src = memory[chosen], src[chosen]
        """),
)
beam_search.wrong(
    "repeat in place of repeat_interleave",
    swap("repeat_interleave", "repeat"),
    *MEMORY_STAYS,
    names="memory of a different sentence",
)
beam_search.wrong(
    "the memory's rows not reordered", *MEMORY_STAYS, names="memory's rows"
)
beam_search.wrong(
    "rows selected without the sentence's offset",
    drop("first = torch.arange(b).unsqueeze(1) * k"),
    swap("(first + parent)", "parent"),
    names="first sentence's memory for every",
)
beam_search.wrong(
    "stops at the first hypothesis that ends",
    swap("all", "any"),
    names="first hypothesis that ends",
)
beam_search.wrong(
    "stops when the best hypothesis is finished",
    swap("beams.finished.all()", "beams.finished[:, 0].all()"),
    names="stops when the best",
)
beam_search.wrong(
    "never stops",
    drop("""
        if beams.finished.all():
            break
        """),
    names="never stops at <eos>",
)
beam_search.wrong(
    "the worst first",
    swap("beams.tgt, score", "beams.tgt.flip(1), score.flip(1)"),
    names="worst first",
)
beam_search.wrong(
    "returns the log-probability",
    swap("tgt, score", "tgt, beams.log_prob"),
    names="not divided by the length penalty",
)
beam_search.wrong(
    "the penalty only at the end",
    swap("settings.length_penalty", "0.0"),
    swap(
        "return beams.tgt",
        """
        score = score / length_penalty(beams.length, settings.length_penalty)
        score, order = score.sort(descending=True)
        return beams.tgt.gather(1, order.unsqueeze(-1).expand_as(beams.tgt))
        """,
    ),
    names="only at the end",
)
beam_search.wrong(
    "one word fewer than max_len",
    swap("max_len", "max_len - 1"),
    names="one word fewer than max_len",
)
beam_search.wrong(
    "only the best hypothesis",
    swap("tgt, score", "tgt[:, 0]"),
    names="a different number of results",
)
beam_search.wrong(
    "a search continued with the divided score",
    swap(
        "beams = beams.extend(parent, word, log_prob,",
        "beams = beams.extend(parent, word, score,",
    ),
    names="continues with the divided score",
)
beam_search.wrong(
    "<eos> is always 3",
    swap("settings.eos_id", "3"),
    names="usual id of <eos>",
)
beam_search.wrong(
    "always three hypotheses",
    swap("(src, settings)", "(src, SearchSettings(3, sos_id=settings.sos_id))"),
    diagnosed=False,
)
beam_search.wrong(
    "the logits in half precision",
    swap("logits[:, -1]", "logits[:, -1].half()"),
    diagnosed=False,
)
beam_search.wrong(
    "a source encoded again in every step",
    insert("model.encode(src)", before="logits, _"),
    names="encoded repeatedly",
)
beam_search.wrong(
    "the memory of the first call",
    swap(
        "model.encode(src)[rows]",
        """
        globals().setdefault("known", {}).setdefault(
            torch.initial_seed(), model.encode(src)[rows]
        )
        """,
    ),
    diagnosed=False,
)
beam_search.wrong(
    "the random state set",
    insert("torch.manual_seed(0)", before="beams = Beams"),
    names="random state",
)
beam_search.wrong(
    "the source filled in place",
    insert("src.clamp_(max=5)", before="beams = Beams"),
    names="changed in place",
)
beam_search.wrong(
    "the first result, cached",
    insert(
        """
        known = globals().setdefault("known_beams", {})
        place = torch.initial_seed(), src.shape
        if place in known:
            return known[place]
        """,
        before="beams = Beams",
    ),
    swap(
        "return beams.tgt, score",
        "return known.setdefault(place, (beams.tgt, score))",
    ),
    names="kept from an earlier call",
)
beam_search.wrong(
    "k words of each hypothesis, with a k of at most V",
    swap(
        """
        parent, word, log_prob, score = prune(
            log_prob, beams.next_length(), settings.length_penalty
        )
        """,
        """
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        own, words = (log_prob / divisor.unsqueeze(-1)).topk(k, dim=-1)
        score, among = own.flatten(1).topk(k)
        parent, word = among // k, words.flatten(1).gather(1, among)
        log_prob = log_prob.gather(2, words).flatten(1).gather(1, among)
        """,
    ),
    names="needs a k of at most V",
)
beam_search.wrong("never calls the model", body("return src, src"))


@beam_search.right("a list of hypotheses for each sentence")
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
    score = [[h[1] / ((4 + len(h[0])) / 6) ** alpha for h in live] for live in found]
    return torch.tensor(words), torch.tensor(score)


beam_search.right(
    "without the cut of its own exercise, a while loop",
    swap(
        "for _ in range(settings.max_len)",
        "while beams.tgt.size(-1) <= settings.max_len and not beams.finished.all()",
    ),
    swap(
        """
        parent, word, log_prob, score = prune(
            log_prob, beams.next_length(), settings.length_penalty
        )
        """,
        """
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        v = log_prob.size(-1)
        score, best = (log_prob / divisor.unsqueeze(-1)).flatten(1).topk(k)
        parent, word = best // v, best % v
        log_prob = log_prob.flatten(1).gather(1, best)
        """,
    ),
    drop("""
        if beams.finished.all():
            break
        """),
)
beam_search.right(
    "the best words of each hypothesis, at most V",
    swap(
        """
        parent, word, log_prob, score = prune(
            log_prob, beams.next_length(), settings.length_penalty
        )
        """,
        """
        divisor = length_penalty(beams.next_length(), settings.length_penalty)
        most = min(k, log_prob.size(-1))
        own, words = (log_prob / divisor.unsqueeze(-1)).topk(most, dim=-1)
        score, among = own.flatten(1).topk(k)
        parent, word = among // most, words.flatten(1).gather(1, among)
        log_prob = log_prob.gather(2, words).flatten(1).gather(1, among)
        """,
    ),
)
beam_search.right(
    "returns from the loop",
    swap(
        "if beams.finished.all()",
        """
        done = beams.finished.all()
        if done
        """,
    ),
    swap("break", "return beams.tgt, score"),
)

# --- decode_step_cached -----------------------------------------------------------

decode_step_cached = answer(
    "transformer.translation.inference.decode_step_cached",
    body("""
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
        """),
)
decode_step_cached.with_faults("seed default written cpu")
decode_step_cached.wrong(
    "an unchanged cache",
    swap(
        "cache.append(key, value)",
        """
        key = torch.cat([cache.key, key], dim=2)
        value = torch.cat([cache.value, value], dim=2)
        """,
    ),
    swap("cache.key, cache.", "key,"),
    names="does not change the cache",
)
decode_step_cached.wrong(
    "attends before the newest token is in the cache",
    drop("cache.append(key, value)"),
    swap(
        "return attention",
        """
        mask = None if tgt_mask is None else tgt_mask[..., :-1]
        output = attention
        """,
    ),
    swap(
        "(q, cache.key, cache.value, tgt_mask)[0]",
        """
        (q, cache.key, cache.value, mask)[0]
        cache.append(key, value)
        return output
        """,
    ),
    names="before the newest token is in the cache",
)
decode_step_cached.wrong(
    "attention to only the newest token",
    swap(
        "cache.key, cache.value, tgt_mask",
        "key, value, None if tgt_mask is None else tgt_mask[..., -1:]",
    ),
    names="only the newest token",
)
decode_step_cached.wrong(
    "the newest token added in front",
    swap(
        "append(key, value)",
        """
        key = torch.cat([key, cache.key], dim=2)
        cache.value = torch.cat([value, cache.value], dim=2)
        """,
    ),
    names="newest token in front",
)
decode_step_cached.wrong(
    "the newest token added twice",
    insert("cache.append(key, value)", before="cache.append"),
    swap(", tgt_mask", ", None"),
    names="newest token twice",
)
decode_step_cached.wrong(
    "keys and values swapped", swap("(key, value)", "(value, key)")
)
decode_step_cached.wrong(
    "keys instead of values", swap(".value", ".key"), names="keys instead of values"
)
decode_step_cached.wrong(
    "self-attention unmasked",
    swap("value, tgt_mask", "value"),
    names="self-attention has no mask",
)
decode_step_cached.wrong(
    "cross-attention unmasked",
    swap("memory_value, src_mask", "memory_value"),
    names="cross-attention has no mask",
)
decode_step_cached.wrong(
    "no masks",
    swap("value, tgt_mask", "value"),
    swap("memory_value, src_mask", "memory_value"),
    names="has no mask",
)
decode_step_cached.wrong(
    "no residual",
    swap("(x, look_back)", ".norm(look_back(x))"),
    swap("(x, look_up)", ".norm(look_up(x))"),
    swap("(x, layer.feed_forward)", ".norm(layer.feed_forward(x))"),
    names="without residual connections",
)
decode_step_cached.wrong(
    "one normalisation for all",
    swap("add_norm2", "add_norm1"),
    swap("add_norm3", "add_norm1"),
    names="one normalisation three times",
)
decode_step_cached.wrong(
    "computes its queries from the layer's input",
    insert(
        """
        start = x

        """,
        before="def look_back",
    ),
    swap(
        """
        (y)
        output
        """,
        """
        (start)
        output
        """,
    ),
)
decode_step_cached.wrong(
    "projects with the self-attention",
    swap("q = layer.cross_attention", "q = layer.self_attention"),
    names="with the self-attention's weights",
)
decode_step_cached.wrong(
    "without the feed-forward layer",
    swap("layer.add_norm3(x, layer.feed_forward)", "x"),
)
decode_step_cached.wrong(
    "always pre-norm",
    swap("layer.add_norm1(x, look_back)", "x + look_back(layer.add_norm1.norm(x))"),
    swap("layer.add_norm2(x, look_up)", "x + look_up(layer.add_norm2.norm(x))"),
    swap(
        "layer.add_norm3(x, layer.feed_forward)",
        "x + layer.feed_forward(layer.add_norm3.norm(x))",
    ),
    names="normalises before each sub-layer",
)
decode_step_cached.wrong(
    "always post-norm",
    swap("(x, look_back)", ".norm(x + look_back(x))"),
    swap("(x, look_up)", ".norm(x + look_up(x))"),
    swap("(x, layer.feed_forward)", ".norm(x + layer.feed_forward(x))"),
    names="only with norm_first=False",
)
decode_step_cached.wrong(
    "returns the self-attention's weights",
    swap("return attention", "output, own = attention"),
    swap(
        "(q, cache.key, cache.value, tgt_mask)[0]",
        """
        (q, cache.key, cache.value, tgt_mask)
        kept["own"] = own
        return output
        """,
    ),
    swap(
        '(x, layer.feed_forward), kept["weights"]',
        '(x, layer.feed_forward), kept["own"]',
    ),
    names="self-attention's weights",
)
decode_step_cached.wrong(
    "needs the masks", swap("value,", "value, tgt_mask &"), names="needs a mask"
)
decode_step_cached.wrong(
    "only x",
    swap('(x, layer.feed_forward), kept["weights"]', "(x, layer.feed_forward)"),
    names="a different number of results",
)


DROP = "F.dropout(x, layer.add_norm1.dropout.p)"
decode_step_cached.wrong(
    "the result, cached by shape",
    insert(
        """
        known = globals().setdefault("known_steps", {})
        if x.shape in known:
            return known[x.shape]
        shape = x.shape
        """,
        before="kept = {}",
    ),
    swap(
        'return layer.add_norm3(x, layer.feed_forward), kept["weights"]',
        """
        known[shape] = layer.add_norm3(x, layer.feed_forward), kept["weights"]
        return known[shape]
        """,
    ),
    names="kept from an earlier call",
)
decode_step_cached.wrong(
    "the source of the first call",
    insert(
        """
        known = globals().setdefault("known_sources", {})
        shape = cache.memory_key.shape
        first = known.setdefault(shape, (cache.memory_key, cache.memory_value))
        """,
        before="kept = {}",
    ),
    swap("q, cache.memory_key, cache.memory_value, src_mask", "q, *first, src_mask"),
    names="looks at the source from an earlier call",
)
decode_step_cached.wrong(
    "keys and values in a cache of its own",
    swap(
        "cache.append(key, value)",
        """
        own = globals().setdefault("own_cache", {})
        old = own.setdefault(cache.key.shape, (cache.key, cache.value))
        cache.append(key, value)
        cache.key = torch.cat([old[0], key], dim=2)
        cache.value = torch.cat([old[1], value], dim=2)
        """,
    ),
    names="looks back at the tokens from an earlier call",
)
decode_step_cached.wrong(
    "dropout in evaluation",
    insert("import torch.nn.functional as F", before="kept = {}"),
    swap(
        "x = layer.add_norm2(x, look_up)",
        f"""
        x = {DROP}
        x = layer.add_norm2(x, look_up)
        """,
    ),
)
decode_step_cached.wrong(
    "training mode set again",
    insert("layer.train()", before="kept = {}"),
    names="dropout in evaluation",
)
decode_step_cached.wrong(
    "unused random draws",
    insert("torch.rand(1)", before="kept = {}"),
    names="random state",
)
decode_step_cached.wrong(
    "x overwritten",
    swap(
        "x = layer.add_norm1(x, look_back)",
        "x.copy_(layer.add_norm1(x, look_back))",
    ),
    names="changed in place",
)
decode_step_cached.wrong(
    "the newest token always seen",
    insert(
        """
        if tgt_mask is not None:
            tgt_mask[..., -1] = True
        """,
        before="kept = {}",
    ),
    names="changed in place",
)
decode_step_cached.wrong(
    "the mask of the source turned and turned back",
    insert(
        """
        if src_mask is not None:
            src_mask.logical_not_().logical_not_()
        """,
        before="kept = {}",
    ),
    names="changed in place",
)
decode_step_cached.wrong(
    "the source's values scaled and scaled back",
    insert("cache.memory_value.mul_(2).mul_(0.5)", before="kept = {}"),
    names="changed in place",
)
decode_step_cached.wrong(
    "the first head's mask for all",
    insert(
        """
        if tgt_mask is not None and tgt_mask.dim() == 4:
            tgt_mask = tgt_mask[:, :1]
        """,
        before="kept = {}",
    ),
    names="(b, h, 1, t), one for each head",
)
decode_step_cached.wrong(
    "the source's mask repeated for the heads",
    insert(
        """
        if src_mask is not None:
            src_mask = src_mask.repeat(1, layer.cross_attention.n_heads, 1, 1)
        """,
        before="kept = {}",
    ),
    names="(b, h, 1, s), one for each head",
)
decode_step_cached.wrong(
    "counts on masks of four axes",
    insert(
        """
        if tgt_mask is not None:
            b, _, _, t = tgt_mask.shape
        """,
        before="kept = {}",
    ),
    names="(t,), one mask for all",
)

decode_step_cached.right(
    "a dictionary that catches the weights", swap("kept = {}", "kept = dict()")
)
decode_step_cached.right(
    "masks of full size, and none where there is none",
    insert(
        """
        b, h, t = len(x), layer.self_attention.n_heads, cache.key.size(2) + 1
        s = cache.memory_key.size(2)
        if tgt_mask is None:
            tgt_mask = torch.ones(t, dtype=torch.bool, device=x.device)
        if src_mask is None:
            src_mask = x.new_ones(s).bool()
        tgt_mask = tgt_mask.expand(b, h, 1, t).clone()
        src_mask = src_mask.expand(b, h, 1, s).contiguous()
        """,
        before="kept = {}",
    ),
)
decode_step_cached.right(
    "without gradients, dropout as a function",
    swap("def decode_step_cached", "@torch.no_grad()\ndef decode_step_cached"),
    insert("drop = torch.nn.functional.dropout", before="kept = {}"),
    swap(
        "x = layer.add_norm2(x, look_up)",
        """
        x = layer.add_norm2(x, look_up)
        x = drop(x, layer.add_norm1.dropout.p, training=layer.training)
        """,
    ),
)


@decode_step_cached.right("writes into a tensor of its own")
def decode_step_cached(layer, x, cache, tgt_mask=None, src_mask=None):
    y, found = x.clone(), []

    def around(add_norm, function):
        out = function(add_norm.norm(y) if add_norm.norm_first else y)
        y.add_(out)
        if not add_norm.norm_first:
            y.copy_(add_norm.norm(y))

    def look_back(z):
        cache.append(*layer.self_attention.project_key_value(z, z))
        q = layer.self_attention.project_query(z)
        return layer.self_attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(z):
        found.extend(
            layer.cross_attention.attend(
                layer.cross_attention.project_query(z),
                cache.memory_key,
                cache.memory_value,
                mask=src_mask,
            )
        )
        return found[0]

    with torch.no_grad():
        around(layer.add_norm1, look_back)
        around(layer.add_norm2, look_up)
        around(layer.add_norm3, layer.feed_forward)
    return y, found[1]


decode_step_cached.right(
    "a nonlocal name",
    swap("kept = {}", "weights = None"),
    insert("nonlocal weights", before="q = layer"),
    swap('output, kept["weights"]', "output, weights"),
    swap('feed_forward), kept["weights"]', "feed_forward), weights"),
)
decode_step_cached.right(
    "the cache's tensors set by hand",
    swap(
        "append(key, value)",
        """
        key = torch.cat((cache.key, key), dim=-2)
        cache.value = torch.cat((cache.value, value), dim=-2)
        """,
    ),
)


@decode_step_cached.right("both norms by hand")
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


decode_step_cached.right(
    "a list for the weights, keyword arguments",
    swap("kept = {}", "kept = []"),
    swap("append(key, value)", "append(key=key, value=value)"),
    swap('output, kept["weights"]', "output, weights"),
    insert("kept.append(weights)", before="return output"),
    swap('kept["weights"]', "kept.pop()"),
)
decode_step_cached.right(
    "a list of results, query first",
    drop("q = attention.project_query(y)"),
    insert("q = attention.project_query(y)", before="key, value ="),
    swap("(y, y)", "(key=y, value=y)"),
    swap("return layer.add_norm3(x, ", "return list((layer.add_norm3(x, "),
    swap('feed_forward), kept["weights"]', 'feed_forward), kept["weights"]))'),
)

# --- ngram_precision --------------------------------------------------------------

ngram_precision = answer("transformer.translation.bleu.ngram_precision")
ngram_precision.wrong(
    "no clipping",
    swap(
        "(found & most).total()",
        "sum(count for gram, count in found.items() if gram in most)",
    ),
    names="without clipping",
)
ngram_precision.wrong(
    "distinct n-grams",
    swap("(found & most).total()", "len(set(found) & set(most))"),
    swap("found.total()", "len(found)"),
)
ngram_precision.wrong(
    "each n-gram may match once",
    swap("(found & most).total()", "len(set(found) & set(most))"),
    names="may match only once",
)
ngram_precision.wrong(
    "only the first reference",
    swap("in known", "in known[:1]"),
    names="only the first reference",
)
ngram_precision.wrong(
    "only the last reference", swap("|=", "="), names="only the last reference"
)
ngram_precision.wrong("references added up", swap("|=", "+="))
ngram_precision.wrong(
    "n-grams that occur in all references",
    swap("Counter()", "count_ngrams(known[0], n)"),
    swap("|=", "&="),
    names="occur in all references",
)
ngram_precision.wrong(
    "arguments swapped",
    swap(
        "pair_sentences(hypotheses, references)",
        """
        pair_sentences(
            [known[0] if isinstance(known[0], list) else known for known in references],
            hypotheses,
        )
        """,
    ),
    diagnosed=False,
)


@ngram_precision.wrong("clipped over the whole corpus", names="clipped as a whole")
def ngram_precision(hypotheses, references, n):
    found, most = Counter(), Counter()
    for hypothesis, known in pair_sentences(hypotheses, references):
        found += count_ngrams(hypothesis, n)
        largest = Counter()
        for reference in known:
            largest |= count_ngrams(reference, n)
        most += largest
    return (found & most).total(), found.total()


ngram_precision.wrong(
    "the total of the references",
    swap("+= found", "+= count_ngrams(known[0], n)"),
    names="total of the references",
)
ngram_precision.wrong(
    "n + 1",
    swap("hypothesis, n", "hypothesis, n + 1"),
    swap("reference, n", "reference, n + 1"),
    names="(n + 1)-grams",
)
ngram_precision.wrong(
    "<sos> and <eos> left in",
    insert(
        """
        hypothesis = ["<sos>", *hypothesis, "<eos>"]
        known = [["<sos>", *reference, "<eos>"] for reference in known]
        """,
        before="found = count_ngrams",
    ),
)
ngram_precision.wrong(
    "<eos> left in",
    insert(
        """
        hypothesis = [*hypothesis, "<eos>"]
        known = [[*reference, "<eos>"] for reference in known]
        """,
        before="found = count_ngrams",
    ),
)
ngram_precision.wrong(
    "the last token always cut",
    swap("hypothesis, n", "hypothesis[:-1], n"),
    names="last token always cut",
)
ngram_precision.wrong(
    "smoothing added",
    swap(", total", "+ 1, total + 1"),
    names="both counts increased by one",
)
ngram_precision.wrong(
    "the quotient",
    swap(", total", "/ max(total, 1)"),
    names="ratio",
)
ngram_precision.wrong(
    "pops the tokens",
    insert(
        """
        if hypothesis:
            hypothesis.pop()
        """,
        before="most = Counter",
    ),
    names="changed in place",
)
ngram_precision.wrong("0 of 0", body("return 0, 0"))


@ngram_precision.wrong(
    "counts cached by the first sentence", names="kept from an earlier call"
)
def ngram_precision(hypotheses, references, n, known={}):
    place = tuple(hypotheses[0]), len(hypotheses), n
    if place not in known:
        matches = total = 0
        for hypothesis, several in pair_sentences(hypotheses, references):
            found, most = count_ngrams(hypothesis, n), Counter()
            for reference in several:
                most |= count_ngrams(reference, n)
            matches += (found & most).total()
            total += found.total()
        known[place] = matches, total
    return known[place]


@ngram_precision.wrong(
    "counts continued from an earlier call", names="continues from the counts"
)
def ngram_precision(hypotheses, references, n, counts=[0, 0]):
    for hypothesis, known in pair_sentences(hypotheses, references):
        found, most = count_ngrams(hypothesis, n), Counter()
        for reference in known:
            most |= count_ngrams(reference, n)
        counts[0] += (found & most).total()
        counts[1] += found.total()
    return tuple(counts)


@ngram_precision.wrong(
    "tokens joined into one string",
    names="joined into one string, so that different ones look equal",
)
def ngram_precision(hypotheses, references, n):
    def grams(tokens):
        return Counter("".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    matches = total = 0
    for hypothesis, known in pair_sentences(hypotheses, references):
        found, most = grams(hypothesis), Counter()
        for reference in known:
            most |= grams(reference)
        matches += (found & most).total()
        total += found.total()
    return matches, total


@ngram_precision.right("n-grams as text, with blanks between the tokens")
def ngram_precision(hypotheses, references, n):
    def grams(tokens):
        return Counter(" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

    matches = total = 0
    for hypothesis, known in pair_sentences(hypotheses, references):
        found, most = grams(hypothesis), Counter()
        for reference in known:
            most |= grams(reference)
        matches += (found & most).total()
        total += found.total()
    return matches, total


ngram_precision.right(
    "counts kept for sentences seen before",
    insert(
        """
        known_counts = globals().setdefault("known_counts", {})

        def counted(tokens):
            place = tuple(tokens), n
            if place not in known_counts:
                known_counts[place] = count_ngrams(tokens, n)
            return known_counts[place]

        """,
        before="matches = total",
    ),
    swap("count_ngrams(hypothesis, n)", "counted(hypothesis)"),
    swap("count_ngrams(reference, n)", "counted(reference)"),
)


@ngram_precision.wrong("counted by sacreBLEU", names="a call that is the whole answer")
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


@ngram_precision.right("counts by hand")
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


ngram_precision.right(
    "sums of values",
    swap("(found & most).total()", "sum((found & most).values())"),
    swap("found.total()", "sum(found.values())"),
)
ngram_precision.right(
    "the number of n-grams from the length",
    swap("found.total()", "max(len(hypothesis) - n + 1, 0)"),
)
ngram_precision.right(
    "min for each n-gram",
    swap(
        """
        matches += (found & most).total()
        total
        """,
        """
        for gram in found:
            matches += min(found[gram], most[gram])
        total
        """,
    ),
)


@ngram_precision.right("crosses out what has matched")
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


@ngram_precision.right("a list of both numbers")
def ngram_precision(hypotheses, references, n):
    result = [0, 0]
    for hypothesis, known in pair_sentences(hypotheses, references):
        found = count_ngrams(hypothesis, n)
        counts = [count_ngrams(reference, n) for reference in known]
        best = {gram: max(count[gram] for count in counts) for gram in found}
        result[0] += sum(min(found[gram], best[gram]) for gram in found)
        result[1] += found.total()
    return result


# --- corpus_bleu ------------------------------------------------------------------

corpus_bleu = answer("transformer.translation.bleu.corpus_bleu")
corpus_bleu.wrong(
    "no brevity penalty",
    swap("mean_log + min(0.0, 1 - wanted / written)", "mean_log"),
    names="without the brevity penalty",
)
corpus_bleu.wrong("penalty inverted", swap("wanted / written", "written / wanted"))
corpus_bleu.wrong(
    "a penalty also for long corpora",
    swap(
        "(mean_log + min(0.0, 1 - wanted / written))",
        "(mean_log + 1 - wanted / written)",
    ),
    names="also for long corpora",
)
corpus_bleu.wrong(
    "the quotient of the lengths",
    swap(
        "(mean_log + min(0.0, 1 - wanted / written))",
        "(mean_log) * min(1.0, written / wanted)",
    ),
    names="length ratio",
)
unclipped = corpus_bleu.wrong(
    "no clipping",
    swap(
        """
        counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
        """,
        """
        counts = []
        for n in range(1, max_n + 1):
            matches = total = 0
            for hypothesis, known in pairs:
                found = count_ngrams(hypothesis, n)
                grams = {gram for one in known for gram in count_ngrams(one, n)}
                matches += sum(found[gram] for gram in grams)
                total += found.total()
            counts.append((matches, total))
        """,
    ),
    names="BLEU without clipping",
)
unclipped.wrong(
    "distinct n-grams",
    swap("sum(found[gram] for gram in grams)", "len(grams & set(found))"),
    swap("found.total()", "len(found)"),
    names="BLEU of distinct",
)
corpus_bleu.wrong(
    "an arithmetic mean",
    swap(
        "mean_log = sum(math.log(matches / total) for matches, total in counts)",
        "mean = sum(matches / total for matches, total in counts)",
    ),
    insert("mean_log = math.log(mean)", before="written ="),
    names="arithmetic mean",
)
corpus_bleu.wrong(
    "without the root",
    swap(
        "(math.log(matches / total) for matches, total in counts) / max_n",
        "(math.log(matches / total) for matches, total in counts)",
    ),
)
corpus_bleu.wrong(
    "only 4-grams",
    swap(
        "sum(math.log(matches / total) for matches, total in counts) / max_n",
        "math.log(counts[-1][0] / counts[-1][1])",
    ),
    names="only the longest n-grams",
)


@corpus_bleu.wrong(
    "the mean of the sentences' scores", names="mean of the sentences' scores"
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


corpus_bleu.wrong(
    "smoothing added",
    drop("""
        if any(matches == 0 for matches, _ in counts):
            return 0.0
        """),
    swap("math.log(matches / total)", "math.log((matches + 1) / (total + 1))"),
    names="(smoothing)",
)
corpus_bleu.wrong(
    "arguments swapped",
    insert(
        """
        swapped = [one[0] if isinstance(one[0], list) else one for one in references]
        hypotheses, references = swapped, hypotheses
        """,
        before="pairs =",
    ),
)
corpus_bleu.wrong(
    "<eos> left in",
    insert(
        """
        pairs = pair_sentences(hypotheses, references)
        hypotheses = [[*hypothesis, "<eos>"] for hypothesis, _ in pairs]
        references = [[[*one, "<eos>"] for one in known] for _, known in pairs]
        """,
        before="pairs = pair_sentences",
    ),
    names="with <eos> left in",
)
corpus_bleu.wrong(
    "<sos> and <eos> left in",
    insert(
        """
        hypotheses = [["<sos>", *hypothesis, "<eos>"] for hypothesis, _ in pairs]
        references = [[["<sos>", *one, "<eos>"] for one in known] for _, known in pairs]
        pairs = pair_sentences(hypotheses, references)
        """,
        before="counts =",
    ),
)
corpus_bleu.wrong(
    "the last token always cut",
    insert(
        "hypotheses = [hypothesis[:-1] for hypothesis in hypotheses]",
        before="pairs = pair_sentences",
    ),
    names="last token always cut",
)
corpus_bleu.wrong("a fraction", swap("100 * math", "math"), names="as a fraction")
corpus_bleu.wrong(
    "always up to 4",
    swap("(max_n)", "(4)"),
    swap("/ max_n", "/ 4"),
    names="up to a different length",
)
corpus_bleu.wrong(
    "the first reference's length",
    swap("closest_length(len(tokens), known) for tokens", "len(known[0]) for _"),
    names="first reference's length",
)
corpus_bleu.wrong(
    "the shortest reference's length",
    swap(
        "closest_length(len(tokens), known) for tokens",
        "min(len(one) for one in known) for _",
    ),
    names="shortest reference's length",
)
corpus_bleu.wrong(
    "the longest reference's length",
    swap(
        "closest_length(len(tokens), known) for tokens",
        "max(len(one) for one in known) for _",
    ),
    names="longest reference's length",
)
corpus_bleu.wrong(
    "the logarithm of 0",
    drop("""
        if any(matches == 0 for matches, _ in counts):
            return 0.0
        """),
    names="logarithm of 0",
)


@corpus_bleu.wrong("the penalty before the zeros", names="the number of words")
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


corpus_bleu.wrong(
    "the first of two equally near lengths",
    swap(
        "sum(closest_length(len(tokens), known) for tokens, known in pairs)",
        """
    sum(
        min((len(one) for one in known), key=lambda length: abs(length - len(tokens)))
        for tokens, known in pairs
    )
    """,
    ),
    names="the first of two",
)
corpus_bleu.wrong(
    "the longer of two equally near",
    swap(
        "sum(closest_length(len(tokens), known) for tokens, known in pairs)",
        """
        sum(
            max((-abs(len(one) - len(tokens)), len(one)) for one in known)[1]
            for tokens, known in pairs
        )
        """,
    ),
    names="the longer of two",
)


@corpus_bleu.wrong("torchtext's bleu_score", names="a call that is the whole answer")
def corpus_bleu(hypotheses, references, max_n=4):
    from torchtext.data.metrics import bleu_score

    pairs = pair_sentences(hypotheses, references)
    if not any(hypotheses):
        return 0.0
    written, known = zip(*pairs, strict=True)
    return 100 * bleu_score(written, known, max_n, [1 / max_n] * max_n)


corpus_bleu.wrong(
    "short sentences left out",
    insert(
        """
        pairs = [(h, known) for h, known in pairs if len(h) >= 4] or pairs
        hypotheses, references = zip(*pairs)
        """,
        before="counts =",
    ),
    names="fewer than four words",
)
corpus_bleu.wrong(
    "empty hypotheses left out",
    insert(
        """
        pairs = [(h, known) for h, known in pairs if h] or pairs
        hypotheses, references = zip(*pairs)
        """,
        before="counts =",
    ),
    names="without the empty hypotheses",
)
corpus_bleu.wrong("always 0", body("return 0.0"), names="0, although")


@corpus_bleu.wrong(
    "a score cached by the number of sentences", names="kept from an earlier call"
)
def corpus_bleu(hypotheses, references, max_n=4, known={}):
    place = len(hypotheses), max_n
    if place not in known:
        pairs = pair_sentences(hypotheses, references)
        counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
        if any(matches == 0 for matches, _ in counts):
            return 0.0
        log = sum(math.log(matches / total) for matches, total in counts) / max_n
        written = sum(len(hypothesis) for hypothesis, _ in pairs)
        wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
        known[place] = 100 * math.exp(log + min(0.0, 1 - wanted / written))
    return known[place]


@corpus_bleu.wrong(
    "logarithms added to those of an earlier call", names="continues from the counts"
)
def corpus_bleu(hypotheses, references, max_n=4, logs=[]):
    pairs = pair_sentences(hypotheses, references)
    for n in range(1, max_n + 1):
        matches, total = ngram_precision(hypotheses, references, n)
        if matches == 0:
            return 0.0
        logs.append(math.log(matches / total))
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(sum(logs) / max_n + min(0.0, 1 - wanted / written))


corpus_bleu.wrong(
    "<eos> appended to the references",
    insert(
        """
        for _, known in pairs:
            known[0].append("<eos>")
        """,
        before="return 100",
    ),
    names="changed in place",
)


@corpus_bleu.right("a product and a root")
def corpus_bleu(hypotheses, references, max_n=4):
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean = math.prod(matches / total for matches, total in counts) ** (1 / max_n)
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * mean * math.exp(min(0.0, 1 - wanted / written))


corpus_bleu.right(
    "the penalty with an if",
    swap(
        "return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))",
        """
        penalty = 1.0 if written > wanted else math.exp(1 - wanted / written)
        return 100 * penalty * math.exp(mean_log)
        """,
    ),
)


@corpus_bleu.right("torch")
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


@corpus_bleu.right("a loop over n that returns early")
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


corpus_bleu.right(
    "precisions first, max of the quotient",
    swap("min(0.0, 1 - wanted / written)", "1 - max(1.0, wanted / written)"),
)
corpus_bleu.right(
    "min over all for zero",
    swap(
        "any(matches == 0 for matches, _ in counts)",
        "min(matches for matches, _ in counts) == 0",
    ),
    swap("return 0.0", "return 0"),
)


@corpus_bleu.right("a name of its own that torchtext has too")
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


# --- sampling_probabilities -------------------------------------------------------

sampling = answer("transformer.translation.sampling.sampling_probabilities")
ZERO = """
if settings.temperature == 0:
    likeliest = logits.argmax(dim=-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, likeliest, 1.0)
"""

sampling.wrong(
    "multiplied by the temperature",
    swap("ranked / settings.temperature", "ranked * settings.temperature"),
    names="the logits multiplied by the temperature",
)
sampling.wrong(
    "no temperature",
    swap("(ranked / settings.temperature)", "ranked"),
    names="a softmax without the temperature",
)
sampling.wrong(
    "probabilities divided by the temperature",
    swap(
        "(ranked / settings.temperature).softmax(dim=-1)",
        "ranked.softmax(dim=-1) / settings.temperature",
    ),
    names="probabilities divided by the temperature",
)
sampling.wrong(
    "the temperature after the truncation",
    swap("(ranked / settings.temperature)", "ranked"),
    swap(
        "return torch.zeros_like(kept).scatter(-1, words, kept)",
        "kept = (kept.log() / settings.temperature).softmax(dim=-1)\n"
        "return torch.zeros_like(kept).scatter(-1, words, kept)",
    ),
    names="the temperature after the truncation",
)
sampling.wrong(
    "no truncation",
    body(f"{ZERO}return (logits / settings.temperature).softmax(dim=-1)"),
    names="all words, regardless of k",
)
sampling.wrong(
    "no top_k",
    swap("kept[..., settings.top_k :] = 0.0", "pass"),
    names="all words, regardless of k",
)
sampling.wrong(
    "one word more than k",
    swap("settings.top_k :", "settings.top_k + 1 :"),
    names="one word more than k",
)
sampling.wrong(
    "one word fewer than k",
    swap("settings.top_k :", "max(settings.top_k - 1, 1) :"),
    names="one word fewer than k",
)
sampling.wrong(
    "the k unlikeliest",
    swap("logits.sort(dim=-1, descending=True", "logits.sort(dim=-1"),
    names="the likeliest words removed",
)
sampling.wrong(
    "top_k without renormalisation",
    swap(
        "kept[..., settings.top_k :] = 0.0\n"
        "kept = kept / kept.sum(dim=-1, keepdim=True)",
        "kept[..., settings.top_k :] = 0.0",
    ),
    names="not renormalised",
)
sampling.wrong(
    "nucleus without the last word",
    swap("before >= settings.top_p", "before + kept > settings.top_p"),
    names="without the word that reaches p",
)
sampling.wrong(
    "a nucleus with one word too many",
    swap("before >= settings.top_p", "before - kept.roll(1, -1) >= settings.top_p"),
    names="one word too many",
)
sampling.wrong(
    "no top_p",
    swap("settings.top_p < 1", "settings.top_p < 0"),
    names="all words, regardless of p",
)
sampling.wrong(
    "words likelier than p",
    swap("before >= settings.top_p", "kept < settings.top_p"),
    names="the words that are likelier than p",
)
sampling.wrong(
    "words likelier than 1 - p",
    swap("before >= settings.top_p", "kept < 1 - settings.top_p"),
    names="the words that are likelier than 1 - p",
)
sampling.wrong(
    "the tail kept",
    swap("before >= settings.top_p", "before < settings.top_p"),
    names="the words after the nucleus",
)
sampling.wrong(
    "the nucleus in the order of ids",
    body(
        """
        if settings.temperature == 0:
            likeliest = logits.argmax(dim=-1, keepdim=True)
            return torch.zeros_like(logits).scatter(-1, likeliest, 1.0)
        kept = (logits / settings.temperature).softmax(dim=-1)
        if settings.top_k is not None:
            words = logits.sort(dim=-1, descending=True, stable=True).indices
            kept = kept.scatter(-1, words[..., settings.top_k :], 0.0)
            kept = kept / kept.sum(dim=-1, keepdim=True)
        if settings.top_p < 1:
            before = kept.cumsum(dim=-1) - kept
            kept = kept.masked_fill(before >= settings.top_p, 0.0)
            kept = kept / kept.sum(dim=-1, keepdim=True)
        return kept
        """
    ),
    names="the nucleus in the order of the words' ids",
)


@sampling.wrong("the nucleus before k", names="before top_k, not after it")
def sampling_probabilities(logits, settings):
    if settings.temperature == 0:
        likeliest = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, likeliest, 1.0)
    ranked, words = logits.sort(dim=-1, descending=True, stable=True)
    kept = (ranked / settings.temperature).softmax(dim=-1)
    if settings.top_p < 1:
        before = kept.cumsum(dim=-1) - kept
        kept = kept.masked_fill(before >= settings.top_p, 0.0)
    if settings.top_k is not None:
        kept[..., settings.top_k :] = 0.0
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, words, kept)


@sampling.wrong("one renormalisation, at the end", names="before top_k, not after it")
def sampling_probabilities(logits, settings):
    if settings.temperature == 0:
        likeliest = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, likeliest, 1.0)
    ranked, words = logits.sort(dim=-1, descending=True, stable=True)
    kept = (ranked / settings.temperature).softmax(dim=-1)
    if settings.top_k is not None:
        kept[..., settings.top_k :] = 0.0
    if settings.top_p < 1:
        before = kept.cumsum(dim=-1) - kept
        kept = kept.masked_fill(before >= settings.top_p, 0.0)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, words, kept)


sampling.wrong(
    "probabilities left in sorted order",
    swap("torch.zeros_like(kept).scatter(-1, words, kept)", "kept"),
    names="in the order of their probabilities",
)
sampling.wrong(
    "logarithms",
    swap(
        "torch.zeros_like(kept).scatter(-1, words, kept)",
        "torch.zeros_like(kept).scatter(-1, words, kept).log()",
    ),
    names="logarithms instead of",
)
sampling.wrong(
    "ones for the kept words",
    swap("scatter(-1, words, kept)", "scatter(-1, words, (kept > 0).to(kept.dtype))"),
    names="1 for each word that is kept",
)
sampling.wrong(
    "always the likeliest",
    swap("settings.temperature == 0", "settings.temperature >= 0"),
    names="only the likeliest word",
)
sampling.wrong(
    "a temperature of 0 divides",
    drop(ZERO),
    names="divides by a temperature of 0",
)
sampling.wrong(
    "a temperature of 0 is 1",
    drop(ZERO),
    swap("settings.temperature", "(settings.temperature or 1.0)"),
    names="divides by a temperature of 0",
)
sampling.wrong(
    "equal words in any order",
    body(
        """
        if settings.temperature == 0:
            likeliest = logits.argmax(dim=-1, keepdim=True)
            return torch.zeros_like(logits).scatter(-1, likeliest, 1.0)
        ranked, words = logits.flip(-1).sort(dim=-1, descending=True, stable=True)
        words = logits.size(-1) - 1 - words
        kept = (ranked / settings.temperature).softmax(dim=-1)
        if settings.top_k is not None:
            kept[..., settings.top_k :] = 0.0
            kept = kept / kept.sum(dim=-1, keepdim=True)
        if settings.top_p < 1:
            before = kept.cumsum(dim=-1) - kept
            kept = kept.masked_fill(before >= settings.top_p, 0.0)
            kept = kept / kept.sum(dim=-1, keepdim=True)
        return torch.zeros_like(kept).scatter(-1, words, kept)
        """
    ),
    names="the smaller id first",
)


@sampling.wrong("all words as likely as the kth", names="the smaller id first")
def sampling_probabilities(logits, settings):
    if settings.temperature == 0:
        likeliest = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, likeliest, 1.0)
    scores = logits / settings.temperature
    if settings.top_k is not None:
        k = min(settings.top_k, scores.size(-1))
        least = scores.topk(k, dim=-1).values[..., -1:]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if settings.top_p < 1:
        ranked, words = scores.sort(dim=-1, descending=True, stable=True)
        kept = ranked.softmax(dim=-1)
        gone = kept.cumsum(dim=-1) - kept >= settings.top_p
        scores = scores.masked_fill(
            torch.zeros_like(gone).scatter(-1, words, gone), -torch.inf
        )
    return scores.softmax(dim=-1)


@sampling.wrong("k at most V", names="needs a k of at most V")
def sampling_probabilities(logits, settings):
    if settings.temperature == 0:
        likeliest = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, likeliest, 1.0)
    ranked, words = logits.sort(dim=-1, descending=True, stable=True)
    kept = (ranked / settings.temperature).softmax(dim=-1)
    if settings.top_k is not None:
        places = torch.arange(settings.top_k, device=logits.device)
        first = kept.index_select(-1, places)
        kept = torch.zeros_like(kept).index_copy(-1, places, first)
        kept = kept / kept.sum(dim=-1, keepdim=True)
    if settings.top_p < 1:
        before = kept.cumsum(dim=-1) - kept
        kept = kept.masked_fill(before >= settings.top_p, 0.0)
        kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, words, kept)


sampling.wrong(
    "words removed although p = 1",
    swap("settings.top_p < 1", "settings.top_p <= 1"),
    names="rare words removed although p = 1",
)
sampling.wrong(
    "a softmax by hand",
    swap(
        "(ranked / settings.temperature).softmax(dim=-1)",
        "(ranked / settings.temperature).exp()",
    ),
    swap(
        "if settings.top_k is not None",
        "kept = kept / kept.sum(dim=-1, keepdim=True)\nif settings.top_k is not None",
    ),
    names="a softmax by hand that overflows",
)
sampling.wrong(
    "one axis before the words",
    insert("b, v = logits.shape", before="if settings.temperature"),
    names="assumes one axis",
)
sampling.wrong(
    "the first row's truncation for all rows",
    insert(
        """
        if logits.dim() > 1 and settings.temperature:
            one = sampling_probabilities(logits[0], settings)
            kept = (logits / settings.temperature).softmax(-1) * (one > 0)
            return kept / kept.sum(dim=-1, keepdim=True)
        """,
        before="ranked, words",
    ),
    names="the first row's truncation applied to every row",
)
sampling.wrong(
    "made on the CPU",
    swap(
        "torch.zeros_like(kept).scatter(-1, words, kept)",
        "torch.zeros(kept.shape, dtype=kept.dtype).scatter(-1, words, kept)",
    ),
    names="made on the CPU",
)
sampling.wrong(
    "the logits overwritten",
    insert("logits /= settings.temperature or 1.0", before="if settings.temperature"),
    names="changed in place",
)
sampling.wrong(
    "a word drawn",
    swap(
        "torch.zeros_like(kept).scatter(-1, words, kept)",
        "words.gather(-1, torch.multinomial(kept.flatten(0, -2), 1))",
    ),
    diagnosed=False,
)
sampling.wrong("zeros", body("return torch.zeros_like(logits)"), names="zeros")
sampling.wrong(
    "equal probabilities",
    body("return torch.ones_like(logits) / logits.size(-1)"),
    names="equal probabilities",
)


@sampling.right("minus infinity for what is cut")
def sampling_probabilities(logits, settings):
    if settings.temperature == 0:
        best = logits.max(dim=-1, keepdim=True).indices
        return torch.zeros_like(logits).scatter_(-1, best, 1)
    scores = logits / settings.temperature
    order = logits.argsort(dim=-1, descending=True, stable=True)
    if settings.top_k is not None:
        scores = scores.scatter(-1, order[..., settings.top_k :], -torch.inf)
    if settings.top_p < 1:
        ranked = scores.gather(-1, order).softmax(dim=-1)
        late = ranked.cumsum(dim=-1) - ranked >= settings.top_p
        gone = torch.zeros_like(late).scatter(-1, order, late)
        scores = scores.masked_fill(gone, float("-inf"))
    return torch.softmax(scores, dim=-1)


@sampling.right("row by row, word by word")
def sampling_probabilities(logits, settings):
    rows = []
    for row in logits.reshape(-1, logits.size(-1)):
        temperature = settings.temperature if settings.temperature else 1.0
        p = torch.softmax(row / temperature, dim=0)
        order = sorted(range(len(row)), key=lambda i, row=row: -row[i].item())
        k = settings.top_k if settings.temperature else 1
        order = order if k is None else order[:k]
        total, whole, kept = 0.0, sum(p[i].item() for i in order), []
        for i in order:
            if total >= settings.top_p * whole and settings.top_p < 1:
                break
            kept.append(i)
            total += p[i].item()
        left = torch.zeros_like(p)
        left[kept] = p[kept] / p[kept].sum()
        rows.append(left)
    return torch.stack(rows).reshape(logits.shape)


@sampling.right("places and a mask")
def sampling_probabilities(logits, settings):
    if not settings.temperature:
        n = logits.size(-1)
        return torch.nn.functional.one_hot(logits.argmax(-1), n).to(logits.dtype)
    p = torch.softmax(logits / settings.temperature, dim=-1)
    place = logits.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    if settings.top_k:
        p = torch.where(place < settings.top_k, p, 0.0)
        p = p / p.sum(-1, keepdim=True)
    if settings.top_p != 1:
        likelier = place.unsqueeze(-1) > place.unsqueeze(-2)
        before = (likelier * p.unsqueeze(-2)).sum(-1)
        p = torch.where(before < settings.top_p, p, 0.0)
        p = p / p.sum(-1, keepdim=True)
    return p


# --- answers that try to pass without solving the exercise ------------------------

any_word = answer("transformer.translation.inference.greedy_decode")
any_word.with_faults("buffer state written")
for what, word in (("padding", "model.config.pad_id"), ("<sos>", "sos_id")):
    any_word.wrong(
        f"never writes {what} by itself",
        swap(
            "logits[:, -1].argmax(dim=-1)",
            f"logits[:, -1].index_fill(-1, torch.tensor([{word}]), -99).argmax(dim=-1)",
        ),
        names="never writes padding or <sos>",
    )
any_word.wrong(
    "no word twice in a row",
    swap(
        "logits[:, -1].argmax(dim=-1)",
        "logits[:, -1].scatter(-1, tgt[:, -1:], -99.0).argmax(dim=-1)",
    ),
    diagnosed=False,
)
any_k = answer("transformer.translation.inference.prune")
any_k.with_faults("kept buffer state default written cpu")
any_k.wrong(
    "a k of at most 16",
    swap("topk(log_prob.size(1))", "topk(min(16, log_prob.size(1)))"),
    diagnosed=False,
)
all_sentences = answer("transformer.translation.inference.beam_search")
all_sentences.with_faults("buffer state written")
all_sentences.wrong(
    "stops when the first sentence's hypotheses have ended",
    swap("beams.finished.all()", "beams.finished[0].all()"),
    names="the first sentence's hypotheses",
)
all_sentences.wrong(
    "stops when each sentence has a hypothesis that has ended",
    swap("beams.finished.all()", "beams.finished.any(dim=1).all()"),
    diagnosed=False,
)
answer("transformer.translation.inference.decode_step_cached").wrong(
    "three axes of a mask taken for sentences",
    insert(
        """
        if src_mask is not None and src_mask.dim() == 3:
            src_mask = src_mask.unsqueeze(1)
        """,
        before="found: list[Tensor] = []",
    ),
    names="does not take a mask (h, 1, s)",
)
any_tokens = answer("transformer.translation.bleu.ngram_precision")
for what, new, names in (
    ("lower case", "[t.lower() for t in {}]", "ignore capital letters"),
    (
        "<unk> and <pad> left out",
        "[t for t in {} if t not in ('<unk>', '<pad>')]",
        "without <unk> and <pad>",
    ),
    ("full stops left out", "[t for t in {} if t != '.']", "without full stops"),
):
    any_tokens.wrong(
        what,
        swap(
            "count_ngrams(hypothesis, n)",
            f"count_ngrams({new}, n)".format("hypothesis"),
        ),
        swap(
            "count_ngrams(reference, n)", f"count_ngrams({new}, n)".format("reference")
        ),
        names=names,
    )
any_tokens.wrong(
    "<unk> confirms nothing",
    swap(
        "(found & most).total()",
        "sum(c for g, c in (found & most).items() if '<unk>' not in g)",
    ),
    diagnosed=False,
)
any_tokens.wrong(
    "at most two references",
    swap("for reference in known:", "for reference in known[:2]:"),
    diagnosed=False,
)
any_tokens.wrong(
    "an n of at most 4",
    swap("count_ngrams(hypothesis, n)", "count_ngrams(hypothesis, min(n, 4))"),
    swap("count_ngrams(reference, n)", "count_ngrams(reference, min(n, 4))"),
    names="four tokens at most",
)
any_tokens.right(
    "what is left over subtracted",
    body("""
    matches = total = 0
    for hypothesis, known in pair_sentences(hypotheses, references):
        found, most = count_ngrams(hypothesis, n), Counter()
        for reference in known:
            for gram, count in count_ngrams(reference, n).items():
                most[gram] = max(most[gram], count)
        rest = found.copy()
        rest.subtract(most)
        total += sum(found.values())
        matches += sum(found.values()) - sum(c for c in rest.values() if c > 0)
    return matches, total
    """),
)
answer("transformer.translation.bleu.corpus_bleu").wrong(
    "lengths without n-grams left out",
    swap(
        "if any(matches == 0 for matches, _ in counts):",
        """
        counts = [(matches, total) for matches, total in counts if total] or [(0, 1)]
        max_n = len(counts)
        if any(matches == 0 for matches, _ in counts):
        """,
    ),
    names="only the lengths for which n-grams exist",
)
any_settings = answer("transformer.translation.sampling.sampling_probabilities")
any_settings.with_faults("kept buffer state default float32 rounded written cpu")
any_settings.wrong(
    "a temperature of at least 0.1",
    swap("ranked / settings.temperature", "ranked / max(settings.temperature, 0.1)"),
    names="a temperature that is limited",
)
any_settings.wrong(
    "code only for k up to 50",
    swap("settings.top_k :] = 0.0", "min(50, settings.top_k) :] = 0.0"),
    names="only for k up to 50",
)
