"""Wrong variants and right styles of unit 02, as students write them."""

import math
from collections import Counter, defaultdict

import torch
import torch.nn.functional as F
from torch import nn

from autograder.proof.variants import right, wrong
from transformer.data import SPECIAL_TOKENS

# --- build_vocabulary: wrong ------------------------------------------------------


@wrong("alphabetical order", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = sorted(w for w in counts if counts[w] >= min_freq and w not in specials)
    itos = list(specials) + words
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("in the order in which they occur", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = list(specials) + words
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("the rarest first", diagnosed=True, names="the rarest words first")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("most_common alone", diagnosed=True, names="as they happen to occur")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    itos = list(specials)
    for word, count in counts.most_common():
        if count >= min_freq and word not in specials:
            itos.append(word)
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("sorted with reverse=True", diagnosed=True, names="from z to a")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (counts[w], w), reverse=True)]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("without regard to capitals", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w.lower()))]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("torchtext's Vocab")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    from torchtext.vocab import Vocab

    counts = Counter(token for sentence in sentences for token in sentence)
    vocab = Vocab(counts, min_freq=min_freq, specials=list(specials))
    return vocab.itos, dict(vocab.stoi)


@wrong("by the number of sentences", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter()
    for sentence in sentences:
        counts.update(set(sentence))
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("more than min_freq times", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] > min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("min_freq is ignored", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("special tokens counted as words", diagnosed=True, names="a second time")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("the special tokens at the end", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*sorted(words, key=lambda w: (-counts[w], w)), *specials]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("the default special tokens", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    special = ["<unk>", "<pad>", "<sos>", "<eos>"]
    words = [w for w in counts if counts[w] >= min_freq and w not in special]
    itos = [*special, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("no special tokens", diagnosed=True, names="no special tokens at all")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = sorted(words, key=lambda w: (-counts[w], w))
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("counts from 1", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos, start=1)}


@wrong("a dictionary of frequencies", diagnosed=True, names="the frequency of each")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, dict(counts)


@wrong("from numbers to words", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, dict(enumerate(itos))


@wrong("the dictionary first", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return {word: i for i, word in enumerate(itos)}, itos


@wrong("letters", diagnosed=True, names="the letters of the words")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(c for sentence in sentences for word in sentence for c in word)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("lower case", diagnosed=True)
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token.lower() for sentence in sentences for token in sentence)
    words = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos)}


@wrong("reads the sentences twice", diagnosed=True, names="were read twice")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    distinct = {token for sentence in sentences for token in sentence}
    counts = Counter(token for sentence in sentences for token in sentence)
    words = [w for w in distinct if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(words, key=lambda w: (-counts[w], w))]
    return itos, {word: i for i, word in enumerate(itos)}


# --- build_vocabulary: right ------------------------------------------------------


@right("a loop and a plain dictionary")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = {}
    for sentence in sentences:
        for token in sentence:
            counts[token] = counts.get(token, 0) + 1
    itos = list(specials)
    for word in sorted(sorted(counts), key=counts.get, reverse=True):
        if counts[word] >= min_freq and word not in itos:
            itos.append(word)
    stoi = {}
    for i in range(len(itos)):
        stoi[itos[i]] = i
    return itos, stoi


@right("two sorts, the second one stable")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter()
    for sentence in sentences:
        counts.update(sentence)
    for token in specials:
        counts.pop(token, None)
    words = sorted(counts)
    words.sort(key=lambda w: -counts[w])
    itos = list(specials) + [w for w in words if counts[w] >= min_freq]
    return itos, dict(zip(itos, range(len(itos)), strict=True))


@right("most_common of a sorted counter, a tuple for the result")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    tokens = [t for s in sentences for t in s if t not in set(specials)]
    ranked = Counter(sorted(tokens)).most_common()
    itos = [*specials, *(word for word, count in ranked if count >= min_freq)]
    return tuple(itos), {word: i for i, word in enumerate(itos)}


@right("a defaultdict")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = defaultdict(int)
    for sentence in sentences:
        for token in sentence:
            if token not in specials:
                counts[token] += 1
    pairs = sorted((-count, word) for word, count in counts.items())
    itos = list(specials) + [word for count, word in pairs if -count >= min_freq]
    return itos, {word: i for i, word in enumerate(itos)}


@right("a vocabulary that is a defaultdict itself")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    kept = filter(lambda w: counts[w] >= min_freq and w not in specials, counts)
    itos = [*specials, *sorted(kept, key=lambda w: (-counts[w], w))]
    stoi = defaultdict(int, {word: i for i, word in enumerate(itos)})
    return itos, stoi


@right("buckets of equal frequency")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    itos = list(specials)
    for frequency in sorted(set(counts.values()), reverse=True):
        if frequency < min_freq:
            break
        bucket = sorted(word for word in counts if counts[word] == frequency)
        itos += [word for word in bucket if word not in specials]
    return itos, {word: itos.index(word) for word in itos}


# --- one_hot_embedding: wrong -----------------------------------------------------


@wrong("the one-hot vectors themselves", diagnosed=True)
def one_hot_embedding(ids, weight):
    return F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)


@wrong("off by one", diagnosed=True)
def one_hot_embedding(ids, weight):
    return weight[ids - 1]


@wrong("the rows of the words after", diagnosed=True)
def one_hot_embedding(ids, weight):
    return weight[(ids + 1) % weight.size(0)]


@wrong("already scaled", diagnosed=True, names="times √d_model")
def one_hot_embedding(ids, weight):
    one_hot = F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)
    return one_hot @ weight * math.sqrt(weight.size(1))


@wrong("a sum over the sentence", diagnosed=True, names="their sum")
def one_hot_embedding(ids, weight):
    one_hot = F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)
    return one_hot.sum(dim=-2) @ weight


@wrong("a mean over the sentence", diagnosed=True, names="their mean")
def one_hot_embedding(ids, weight):
    return weight[ids].mean(dim=-2)


@wrong("as many classes as the batch needs", diagnosed=True, names="largest number")
def one_hot_embedding(ids, weight):
    return F.one_hot(ids).to(weight.dtype) @ weight


@wrong("rows and columns confused", diagnosed=True)
def one_hot_embedding(ids, weight):
    one_hot = F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)
    return one_hot @ weight.reshape(weight.size(1), weight.size(0)).T


@wrong("a fixed dtype", diagnosed=True)
def one_hot_embedding(ids, weight):
    one_hot = F.one_hot(ids, num_classes=weight.size(0)).float()
    return one_hot @ weight.float()


@wrong("detached lookup", diagnosed=True, names="the gradient is cut off")
def one_hot_embedding(ids, weight):
    return weight.detach()[ids]


@wrong("a new tensor of the rows", diagnosed=True, names="the gradient is cut off")
def one_hot_embedding(ids, weight):
    rows = weight.tolist()
    flat = [rows[i] for i in ids.flatten().tolist()]
    found = torch.tensor(flat, dtype=weight.dtype)
    return found.view(*ids.shape, weight.size(1))


@wrong("works for (b, t) only", diagnosed=True, names="ids of (b, t) only")
def one_hot_embedding(ids, weight):
    b, t = ids.shape
    one_hot = torch.zeros(b, t, weight.size(0), dtype=weight.dtype)
    one_hot.scatter_(2, ids.unsqueeze(2), 1)
    return one_hot @ weight


@wrong("a table that is changed", diagnosed=True, names="an input is changed in place")
def one_hot_embedding(ids, weight):
    one_hot = F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)
    found = one_hot @ weight
    with torch.no_grad():
        weight[1] = 0  # padding
    return found


# --- one_hot_embedding: right -----------------------------------------------------


@right("F.embedding")
def one_hot_embedding(ids, weight):
    return F.embedding(ids, weight)


@right("indexing")
def one_hot_embedding(ids, weight):
    return weight[ids]


@right("index_select")
def one_hot_embedding(ids, weight):
    found = weight.index_select(0, ids.flatten())
    return found.reshape(*ids.shape, weight.size(1))


@right("rows of the identity matrix")
def one_hot_embedding(ids, weight):
    return torch.eye(len(weight), dtype=weight.dtype)[ids] @ weight


@right("a one-hot vector by scatter")
def one_hot_embedding(ids, weight):
    one_hot = weight.new_zeros(*ids.shape, weight.shape[0])
    one_hot = one_hot.scatter(-1, ids.unsqueeze(-1), 1.0)
    return torch.einsum("...v,vd->...d", one_hot, weight)


@right("a comparison, and F.linear")
def one_hot_embedding(ids, weight):
    one_hot = ids.unsqueeze(-1) == torch.arange(weight.size(0), device=ids.device)
    return F.linear(one_hot.to(weight.dtype), weight.t())


@right("gather")
def one_hot_embedding(ids, weight):
    index = ids.reshape(-1, 1).expand(-1, weight.size(1))
    return weight.gather(0, index).reshape(ids.shape + weight.shape[1:])


@right("a loop")
def one_hot_embedding(ids, weight):
    rows = [weight[i] for i in ids.reshape(-1).tolist()]
    return torch.stack(rows).view(*ids.shape, -1)


# --- lookup_gradient: wrong -------------------------------------------------------


@wrong("+= on an index", diagnosed=True, names="last place alone")
def lookup_gradient(ids, upstream, vocab_size):
    table = torch.zeros(vocab_size, upstream.size(-1), dtype=upstream.dtype)
    table[ids] += upstream
    return table


@wrong("an assignment", diagnosed=True, names="last place alone")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.size(-1)
    table = torch.zeros(vocab_size, d_model, dtype=upstream.dtype)
    for word, row in zip(ids.flatten(), upstream.reshape(-1, d_model), strict=True):
        table[word] = row
    return table


@wrong("the first place alone", diagnosed=True, names="first place alone")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.size(-1)
    table = torch.zeros(vocab_size, d_model, dtype=upstream.dtype)
    flat, seen = ids.flatten().tolist(), set()
    for i in range(len(flat)):
        if flat[i] not in seen:
            table[flat[i]] = upstream.reshape(-1, d_model)[i]
            seen.add(flat[i])
    return table


@wrong("the mean over the places", diagnosed=True)
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
    counts = one_hot.sum(dim=0).clamp(min=1).unsqueeze(-1)
    return one_hot.T @ upstream.reshape(-1, upstream.size(-1)) / counts


@wrong("divided by the number of sentences", diagnosed=True)
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
    table = one_hot.T @ upstream.reshape(-1, upstream.size(-1))
    return table / (len(ids) if ids.dim() else 1)


@wrong("divided by the number of tokens", diagnosed=True)
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
    return one_hot.T @ upstream.reshape(-1, upstream.size(-1)) / ids.numel()


@wrong("the transposed gradient", diagnosed=True)
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
    return upstream.reshape(-1, upstream.size(-1)).T @ one_hot


@wrong("the number of places", diagnosed=True)
def lookup_gradient(ids, upstream, vocab_size):
    counts = torch.bincount(ids.flatten(), minlength=vocab_size)
    table = torch.zeros(vocab_size, upstream.size(-1), dtype=upstream.dtype)
    return table + counts.unsqueeze(-1)


@wrong("the opposite sign", diagnosed=True)
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
    return -one_hot.T @ upstream.reshape(-1, upstream.size(-1))


@wrong("the factor √d_model", diagnosed=True, names="times √d_model")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.size(-1)
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
    return one_hot.T @ upstream.reshape(-1, d_model) * math.sqrt(d_model)


@wrong("index_add thrown away", diagnosed=True, names="nothing but zeros")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.size(-1)
    table = torch.zeros(vocab_size, d_model, dtype=upstream.dtype)
    table.index_add(0, ids.flatten(), upstream.reshape(-1, d_model))
    return table


@wrong("only the words that occur", diagnosed=True, names="that do not occur")
def lookup_gradient(ids, upstream, vocab_size):
    distinct, places = ids.flatten().unique(return_inverse=True)
    d_model = upstream.size(-1)
    table = torch.zeros(len(distinct), d_model, dtype=upstream.dtype)
    return table.index_add(0, places, upstream.reshape(-1, d_model))


@wrong("as many rows as the batch needs", diagnosed=True, names="only up to the larg")
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids).to(upstream.dtype).flatten(0, -2)
    return one_hot.T @ upstream.reshape(-1, upstream.size(-1))


@wrong("padding left out", diagnosed=True, names="padding's row set to zero")
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
    table = one_hot.T @ upstream.reshape(-1, upstream.size(-1))
    table[1] = 0
    return table


@wrong("view of what is not contiguous", diagnosed=True, names="`view` on a tensor")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.size(-1)
    table = torch.zeros(vocab_size, d_model, dtype=upstream.dtype)
    return table.index_add(0, ids.flatten(), upstream.view(-1, d_model))


@wrong("a table in float32", diagnosed=True, names="a fixed dtype")
def lookup_gradient(ids, upstream, vocab_size):
    table = torch.zeros(vocab_size, upstream.size(-1))
    return table.index_add(
        0, ids.flatten(), upstream.reshape(-1, upstream.size(-1)).float()
    )


@wrong("works for (b, t) only", diagnosed=True, names="ids of (b, t) only")
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype)
    return torch.einsum("btv,btd->vd", one_hot, upstream)


@wrong("the sentences apart", diagnosed=True, names="a table for each sentence")
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype)
    return one_hot.transpose(-2, -1) @ upstream


@wrong("backward")
def lookup_gradient(ids, upstream, vocab_size):
    table = upstream.new_zeros(vocab_size, upstream.size(-1), requires_grad=True)
    table[ids].backward(upstream)
    return table.grad


@wrong("autograd, asked directly")
def lookup_gradient(ids, upstream, vocab_size):
    table = upstream.new_zeros(vocab_size, upstream.size(-1), requires_grad=True)
    (gradient,) = torch.autograd.grad(table[ids], table, upstream)
    return gradient


@wrong("autograd under the name grad")
def lookup_gradient(ids, upstream, vocab_size):
    from torch.autograd import grad

    table = upstream.new_zeros(vocab_size, upstream.size(-1), requires_grad=True)
    (gradient,) = grad(table[ids], table, upstream)
    return gradient


@wrong("torch.func.vjp")
def lookup_gradient(ids, upstream, vocab_size):
    table = upstream.new_zeros(vocab_size, upstream.size(-1))
    _, pull_back = torch.func.vjp(lambda table: table[ids], table)
    return pull_back(upstream)[0]


# --- lookup_gradient: right -------------------------------------------------------


@right("one-hot, transposed, times the gradient")
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids.flatten(), vocab_size).to(upstream.dtype)
    return one_hot.T @ upstream.reshape(-1, upstream.size(-1))


@right("a loop over the tokens")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.shape[-1]
    table = upstream.new_zeros(vocab_size, d_model)
    rows = upstream.reshape(-1, d_model)
    for i, word in enumerate(ids.flatten().tolist()):
        table[word] += rows[i]
    return table


@right("index_put_ that accumulates")
def lookup_gradient(ids, upstream, vocab_size):
    table = torch.zeros(vocab_size, upstream.size(-1)).to(upstream)
    return table.index_put_((ids,), upstream, accumulate=True)


@right("scatter_add")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.size(-1)
    index = ids.reshape(-1, 1).expand(-1, d_model)
    table = upstream.new_zeros((vocab_size, d_model))
    return table.scatter_add(0, index, upstream.reshape(-1, d_model))


@right("a sum for each word of the vocabulary")
def lookup_gradient(ids, upstream, vocab_size):
    rows = [upstream[ids == word].sum(dim=0) for word in range(vocab_size)]
    return torch.stack(rows)


@right("einsum")
def lookup_gradient(ids, upstream, vocab_size):
    is_word = ids.unsqueeze(-1) == torch.arange(vocab_size, device=ids.device)
    return torch.einsum("...v,...d->vd", is_word.to(upstream.dtype), upstream)


@right("a table that is called grad")
def lookup_gradient(ids, upstream, vocab_size):
    grad = upstream.new_zeros(vocab_size, upstream.size(-1))
    grad.index_add_(0, ids.flatten(), upstream.reshape(-1, grad.size(1)))
    return grad


# --- TokenEmbedding: wrong --------------------------------------------------------


@wrong("without the factor", diagnosed=True, replaces="TokenEmbedding.forward")
def forward(self, ids):
    return self.table(ids)


@wrong("divided by √d_model", diagnosed=True, replaces="TokenEmbedding.forward")
def forward(self, ids):
    return self.table(ids) / math.sqrt(self.d_model)


@wrong(
    "times d_model",
    diagnosed=True,
    replaces="TokenEmbedding.forward",
    names="without the root",
)
def forward(self, ids):
    return self.table(ids) * self.d_model


@wrong("√vocab_size", diagnosed=True, replaces="TokenEmbedding.forward")
def forward(self, ids):
    return self.table(ids) * math.sqrt(self.table.num_embeddings)


@wrong("√t", diagnosed=True, replaces="TokenEmbedding.forward", names="root of the num")
def forward(self, ids):
    return self.table(ids) * math.sqrt(ids.size(-1))


@wrong(
    "detached", diagnosed=True, replaces="TokenEmbedding.forward", names="is cut off"
)
def forward(self, ids):
    return self.table(ids).detach() * math.sqrt(self.d_model)


@wrong(
    "looked up in .data",
    diagnosed=True,
    replaces="TokenEmbedding.forward",
    names="the gradient is cut off",
)
def forward(self, ids):
    return self.table.weight.data[ids] * math.sqrt(self.d_model)


@wrong(
    "the table scaled in place",
    diagnosed=True,
    replaces="TokenEmbedding.forward",
    names="the table is changed by the call",
)
def forward(self, ids):
    with torch.no_grad():
        self.table.weight.mul_(math.sqrt(self.d_model))
    return self.table(ids)


@wrong(
    "scaled to one length",
    diagnosed=True,
    replaces="TokenEmbedding.forward",
    names="scaled to the length",
)
def forward(self, ids):
    return F.normalize(self.table(ids), dim=-1) * math.sqrt(self.d_model)


@wrong(
    "added, not multiplied",
    diagnosed=True,
    replaces="TokenEmbedding.forward",
    names="plus √d_model",
)
def forward(self, ids):
    return self.table(ids) + math.sqrt(self.d_model)


@wrong(
    "one vector a sentence",
    diagnosed=True,
    replaces="TokenEmbedding.forward",
    names="one vector for all words",
)
def forward(self, ids):
    return self.table(ids).sum(dim=-2) * math.sqrt(self.d_model)


@wrong(
    "a fixed dtype",
    diagnosed=True,
    replaces="TokenEmbedding.forward",
    names="a fixed dtype",
)
def forward(self, ids):
    return self.table(ids).float() * math.sqrt(self.d_model)


# --- TokenEmbedding: right --------------------------------------------------------


@right("the power 0.5", replaces="TokenEmbedding.forward")
def forward(self, ids):
    return self.table(ids) * self.d_model**0.5


@right("the width read off the table", replaces="TokenEmbedding.forward")
def forward(self, ids):
    vectors = self.table(ids)
    return math.sqrt(vectors.size(-1)) * vectors


@right("F.embedding", replaces="TokenEmbedding.forward")
def forward(self, ids):
    return F.embedding(ids, self.table.weight) * torch.tensor(self.d_model).sqrt().to(
        self.table.weight.dtype
    )


@right("one-hot times the scaled table", replaces="TokenEmbedding.forward")
def forward(self, ids):
    weight = self.table.weight * math.sqrt(self.d_model)
    return F.one_hot(ids, len(weight)).to(weight.dtype) @ weight


@right("the function of exercise 2", replaces="TokenEmbedding.forward")
def forward(self, ids):
    return one_hot_embedding(ids, self.table.weight).mul(math.sqrt(self.d_model))


@right("index_select", replaces="TokenEmbedding.forward")
def forward(self, ids):
    rows = self.table.weight.index_select(0, ids.flatten())
    return rows.view(*ids.shape, self.d_model) / self.d_model**-0.5


@right("another constructor: a parameter by itself, initialised N(0, 1/d)")
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)

    def forward(self, ids):
        return self.weight[ids] * self.weight.size(1) ** 0.5


@right("another constructor: the factor as a buffer that is saved")
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.register_buffer("scale", torch.tensor(math.sqrt(d_model)))
        self.table = nn.Embedding(vocab_size, d_model)

    def forward(self, ids):
        return self.table(ids) * self.scale


# --- tie_weights: wrong -----------------------------------------------------------


@wrong("a copy", diagnosed=True, names="a copy, not one parameter")
def tie_weights(embedding, projection):
    projection.weight.data.copy_(embedding.table.weight.data)


@wrong("a clone", diagnosed=True, names="a copy, not one parameter")
def tie_weights(embedding, projection):
    projection.weight = nn.Parameter(embedding.table.weight.detach().clone())


@wrong("a new parameter around the same data", diagnosed=True, names="memory shared")
def tie_weights(embedding, projection):
    projection.weight = nn.Parameter(embedding.table.weight.data)


@wrong(".data shared", diagnosed=True, names="memory shared")
def tie_weights(embedding, projection):
    projection.weight.data = embedding.table.weight.data


@wrong("load_state_dict", diagnosed=True, names="a copy, not one parameter")
def tie_weights(embedding, projection):
    state = projection.state_dict()
    state["weight"] = embedding.table.weight
    projection.load_state_dict(state)


@wrong("the other way round", diagnosed=True, names="the projection's matrix in the")
def tie_weights(embedding, projection):
    embedding.table.weight = projection.weight


@wrong("nothing is tied", diagnosed=True, names="the old one")
def tie_weights(embedding, projection):
    weight = projection.weight
    weight = embedding.table.weight  # noqa: F841


@wrong("another order", diagnosed=True, names="in another order")
def tie_weights(embedding, projection):
    rows = embedding.table.weight
    projection.weight = nn.Parameter(rows.detach().reshape(rows.size(1), -1).T)


@wrong("the bias thrown away", diagnosed=True, names="the bias is gone")
def tie_weights(embedding, projection):
    projection.weight = embedding.table.weight
    projection.bias = None


@wrong("frozen", diagnosed=True, names="the gradient is cut off")
def tie_weights(embedding, projection):
    embedding.table.weight.requires_grad_(False)
    projection.weight = embedding.table.weight


@wrong("copied under no_grad", diagnosed=True, names="a copy, not one parameter")
def tie_weights(embedding, projection):
    with torch.no_grad():
        projection.weight[:] = embedding.table.weight


# --- tie_weights: right -----------------------------------------------------------


@right("setattr")
def tie_weights(embedding, projection):
    setattr(projection, "weight", embedding.table.weight)  # noqa: B010


@right("register_parameter")
def tie_weights(embedding, projection):
    projection.register_parameter("weight", embedding.table.weight)


@right("delete first")
def tie_weights(embedding, projection):
    shared = embedding.table.weight
    del projection.weight
    projection.weight = shared


@right("the layer is returned, too")
def tie_weights(embedding, projection):
    projection.weight = embedding.table.weight
    return projection


@right("get_parameter")
def tie_weights(embedding, projection):
    projection.weight = embedding.get_parameter("table.weight")
    assert projection.weight is embedding.table.weight


@right("the dictionary of parameters")
def tie_weights(embedding, projection):
    projection._parameters["weight"] = embedding.table._parameters["weight"]
