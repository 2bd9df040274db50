"""Wrong variants and right styles of unit 02, as students write them."""

import math
from collections import Counter, defaultdict

import torch
import torch.nn.functional as F
from torch import nn

from autograder.proof.variants import answer, body, insert, swap
from transformer.data import SPECIAL_TOKENS

# --- build_vocabulary -------------------------------------------------------------

build_vocabulary = answer("transformer.data.word_counts.build_vocabulary")
build_vocabulary.wrong(
    "the words in alphabetical order",
    swap(
        "sorted(frequent, key=lambda word: (-counts[word], word))", "sorted(frequent)"
    ),
)
build_vocabulary.wrong(
    "the words in the order in which they occur",
    swap(
        "[*specials, *sorted(frequent, key=lambda word: (-counts[word], word))]",
        "list(specials) + frequent",
    ),
)
build_vocabulary.wrong(
    "the rarest words first",
    swap("word: (-counts[word], word)", "w: (counts[w], w)"),
    names="the rarest words first",
)
build_vocabulary.wrong(
    "only most_common",
    swap(
        "sorted(frequent, key=lambda word: (-counts[word], word))",
        "sorted(frequent, key=counts.get, reverse=True)",
    ),
    names="words in the order in which they occur",
)
build_vocabulary.wrong(
    "a sort with reverse=True",
    swap("word: (-counts[word], word)", "w: (counts[w], w), reverse=True"),
    names="from z to a",
)
build_vocabulary.wrong(
    "equally frequent words sorted without regard to upper case",
    swap("word: (-counts[word], word)", "w: (-counts[w], w.lower())"),
)


@build_vocabulary.wrong("torchtext's Vocab", names="a call that is the whole answer")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    from torchtext.vocab import Vocab

    counts = Counter(token for sentence in sentences for token in sentence)
    vocab = Vocab(counts, min_freq=min_freq, specials=list(specials))
    return vocab.itos, dict(vocab.stoi)


build_vocabulary.wrong(
    "a sort by the number of sentences",
    swap("for token in sentence)", "for token in set(sentence))"),
    names="the number of sentences that contain",
)
build_vocabulary.wrong(
    "a word must occur more than min_freq times", swap("[w] >=", "[w] >")
)
build_vocabulary.wrong("min_freq is ignored", swap("counts[w] >= min_freq and w", "w"))
build_vocabulary.wrong(
    "special tokens that are counted as words",
    swap("min_freq and w not in specials", "min_freq"),
    names="in the list a second time",
)
build_vocabulary.wrong(
    "the special tokens at the end",
    swap(
        "[*specials, *sorted(frequent, key=lambda word: (-counts[word], word))]",
        "[*sorted(frequent, key=lambda word: (-counts[word], word)), *specials]",
    ),
)
build_vocabulary.wrong(
    "the default special tokens",
    insert('specials = ["<unk>", "<pad>", "<sos>", "<eos>"]', before="counts = "),
)
build_vocabulary.wrong(
    "no special tokens", swap("*specials, ", ""), names="no special tokens at all"
)
build_vocabulary.wrong(
    "a dictionary that counts from 1", swap("(itos)", "(itos, start=1)")
)
build_vocabulary.wrong(
    "a dictionary of frequencies",
    swap("{word: number for number, word in enumerate(itos)}", "dict(counts)"),
    names="the frequency of each",
)
build_vocabulary.wrong(
    "a dictionary from numbers to words",
    swap("{word: number for number, word in enumerate(itos)}", "dict(enumerate(itos))"),
)
build_vocabulary.wrong(
    "the dictionary first, the list second",
    swap(
        "return itos, {word: number for number, word in enumerate(itos)}",
        "return {word: number for number, word in enumerate(itos)}, itos",
    ),
)
build_vocabulary.wrong(
    "the letters of the words",
    swap(
        "token for sentence in sentences for token in sentence",
        "c for sentence in sentences for word in sentence for c in word",
    ),
    names="the letters of the words",
)
build_vocabulary.wrong("words in lower case", swap("token for", "token.lower() for"))
build_vocabulary.wrong(
    "code that reads the sentences twice",
    insert(
        "distinct = {token for sentence in sentences for token in sentence}",
        before="counts = ",
    ),
    swap("for w in counts", "for w in distinct"),
    names="were read twice",
)


build_vocabulary.wrong(
    "equally frequent words in the order of a set",
    swap(
        "sorted(frequent, key=lambda word: (-counts[word], word))",
        "sorted(set(frequent), key=lambda word: -counts[word])",
    ),
    names="in an arbitrary order",
)
build_vocabulary.wrong(
    "the order of a set",
    swap("sorted(frequent, key=lambda word: (-counts[word], word))", "set(frequent)"),
    names="not by frequency, such as",
)
build_vocabulary.wrong(
    "words that are joined and split again",
    swap("for token in sentence)", 'for token in " ".join(sentence).split())'),
    names="split at their spaces",
)
build_vocabulary.wrong(
    "only words that consist of letters",
    swap("if counts[w]", "if (w.isalpha() or w in specials) and counts[w]"),
)
build_vocabulary.wrong(
    "a counter for all calls",
    swap(
        "counts = Counter(",
        "counts = vars(build_vocabulary).setdefault('c', Counter())\ncounts.update(",
    ),
    names="those from an earlier call",
)


@build_vocabulary.wrong("the result from the first call", names="from an earlier call")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    if "kept" not in vars(build_vocabulary):
        counts = Counter(token for sentence in sentences for token in sentence)
        frequent = [w for w in counts if counts[w] >= min_freq and w not in specials]
        itos = [*specials, *sorted(frequent, key=lambda word: (-counts[word], word))]
        stoi = {word: number for number, word in enumerate(itos)}
        vars(build_vocabulary)["kept"] = itos, stoi
    return vars(build_vocabulary)["kept"]


@build_vocabulary.wrong("an extended list of specials", names="an argument is changed")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    frequent = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = specials if isinstance(specials, list) else list(specials)
    itos += sorted(frequent, key=lambda word: (-counts[word], word))
    return list(itos), {word: number for number, word in enumerate(itos)}


build_vocabulary.wrong(
    "only the special tokens",
    body("return list(specials), {w: i for i, w in enumerate(specials)}"),
    diagnosed=False,
)
build_vocabulary.wrong("empty results", body("return [], {}"), diagnosed=False)


@build_vocabulary.right("a loop and a plain dictionary")
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


@build_vocabulary.right("two sorts, of which the second is stable")
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


@build_vocabulary.right("most_common of a sorted counter, and a tuple as the result")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    tokens = [t for s in sentences for t in s if t not in set(specials)]
    ranked = Counter(sorted(tokens)).most_common()
    itos = [*specials, *(word for word, count in ranked if count >= min_freq)]
    return tuple(itos), {word: i for i, word in enumerate(itos)}


@build_vocabulary.right("a defaultdict")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = defaultdict(int)
    for sentence in sentences:
        for token in sentence:
            if token not in specials:
                counts[token] += 1
    pairs = sorted((-count, word) for word, count in counts.items())
    itos = list(specials) + [word for count, word in pairs if -count >= min_freq]
    return itos, {word: i for i, word in enumerate(itos)}


@build_vocabulary.right("a defaultdict as the vocabulary")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    kept = filter(lambda w: counts[w] >= min_freq and w not in specials, counts)
    itos = [*specials, *sorted(kept, key=lambda w: (-counts[w], w))]
    stoi = defaultdict(int, {word: i for i, word in enumerate(itos)})
    return itos, stoi


@build_vocabulary.right("buckets of equal frequency")
def build_vocabulary(sentences, min_freq=1, specials=SPECIAL_TOKENS):
    counts = Counter(token for sentence in sentences for token in sentence)
    itos = list(specials)
    for frequency in sorted(set(counts.values()), reverse=True):
        if frequency < min_freq:
            break
        bucket = sorted(word for word in counts if counts[word] == frequency)
        itos += [word for word in bucket if word not in specials]
    return itos, {word: itos.index(word) for word in itos}


# --- one_hot_embedding ------------------------------------------------------------

one_hot_embedding = answer("transformer.analysis.embeddings.one_hot_embedding")
one_hot_embedding.with_faults(
    "kept buffer state default detached float32 rounded written cpu"
)
one_hot_embedding.wrong(
    "the one-hot vectors themselves",
    body("return F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)"),
)
one_hot_embedding.wrong("each number is off by one", body("return weight[ids - 1]"))
one_hot_embedding.wrong(
    "the rows of the next words", body("return weight[(ids + 1) % weight.size(0)]")
)


@one_hot_embedding.wrong("vectors that are already scaled", names="times √d_model")
def one_hot_embedding(ids, weight):
    one_hot = F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)
    return one_hot @ weight * math.sqrt(weight.size(1))


@one_hot_embedding.wrong(
    "a sum over the sentence", names="the sum of a sentence's vectors"
)
def one_hot_embedding(ids, weight):
    one_hot = F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)
    return one_hot.sum(dim=-2) @ weight


one_hot_embedding.wrong(
    "a mean over the sentence",
    body("return weight[ids].mean(dim=-2)"),
    names="the mean of a sentence's vectors",
)
one_hot_embedding.wrong(
    "a number of classes from the batch",
    body("return F.one_hot(ids).to(weight.dtype) @ weight"),
    names="largest number",
)


@one_hot_embedding.wrong("rows and columns swapped")
def one_hot_embedding(ids, weight):
    one_hot = F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)
    return one_hot @ weight.reshape(weight.size(1), weight.size(0)).T


one_hot_embedding.wrong(
    "a detached look-up",
    body("return weight.detach()[ids]"),
    names="the gradient is cut off",
)


@one_hot_embedding.wrong("a new tensor of the rows", names="the gradient is cut off")
def one_hot_embedding(ids, weight):
    rows = weight.tolist()
    flat = [rows[i] for i in ids.flatten().tolist()]
    found = torch.tensor(flat, dtype=weight.dtype)
    return found.view(*ids.shape, weight.size(1))


@one_hot_embedding.wrong(
    "code that works only for (b, t)", names="only for ids of shape (b, t)"
)
def one_hot_embedding(ids, weight):
    b, t = ids.shape
    one_hot = weight.new_zeros(b, t, weight.size(0))
    one_hot.scatter_(2, ids.unsqueeze(2), 1)
    return one_hot @ weight


@one_hot_embedding.wrong(
    "a table that is changed", names="an input is changed in place"
)
def one_hot_embedding(ids, weight):
    one_hot = F.one_hot(ids, num_classes=weight.size(0)).to(weight.dtype)
    found = one_hot @ weight
    with torch.no_grad():
        weight[1] = 0  # padding
    return found


one_hot_embedding.wrong(
    "a table with at most 512 rows",
    body("return weight[ids.clamp(max=511)]"),
    names="a table of a fixed size",
)
one_hot_embedding.wrong(
    "a loss of axes of length 1",
    body("return weight[ids.squeeze()]"),
    names="one sentence of one word",
)
one_hot_embedding.wrong(
    "code that does not work for a single number",
    body("return torch.stack([weight[row] for row in ids])"),
    names="a single number",
)
one_hot_embedding.wrong(
    "a product in float32",
    body("return (F.one_hot(ids, len(weight)).float() @ weight.float()).to(weight)"),
    names="rounded to a different dtype",
)
one_hot_embedding.wrong(
    "row 1 without a gradient",
    body("return F.embedding(ids, weight, padding_idx=1)"),
    diagnosed=False,
)


@one_hot_embedding.wrong(
    "one-hot vectors from an earlier call", names="words from an earlier call"
)
def one_hot_embedding(ids, weight):
    kept = vars(one_hot_embedding)
    if ids.shape not in kept:
        kept[ids.shape] = F.one_hot(ids, num_classes=weight.size(0))
    return kept[ids.shape].to(weight.dtype) @ weight


one_hot_embedding.wrong(
    "zeros",
    body("return weight.new_zeros(*ids.shape, weight.size(1))"),
    names="the same result for different inputs",
)
one_hot_embedding.wrong(
    "the whole table as the result", body("return weight"), diagnosed=False
)
one_hot_embedding.right("F.embedding", body("return F.embedding(ids, weight)"))
one_hot_embedding.right("indexing", body("return weight[ids]"))


@one_hot_embedding.right("index_select")
def one_hot_embedding(ids, weight):
    found = weight.index_select(0, ids.flatten())
    return found.reshape(*ids.shape, weight.size(1))


one_hot_embedding.right(
    "rows of the identity matrix",
    body("return torch.eye(len(weight)).to(weight)[ids] @ weight"),
)


@one_hot_embedding.right("a one-hot vector by scatter")
def one_hot_embedding(ids, weight):
    one_hot = weight.new_zeros(*ids.shape, weight.shape[0])
    one_hot = one_hot.scatter(-1, ids.unsqueeze(-1), 1.0)
    return torch.einsum("...v,vd->...d", one_hot, weight)


@one_hot_embedding.right("a comparison and F.linear")
def one_hot_embedding(ids, weight):
    one_hot = ids.unsqueeze(-1) == torch.arange(weight.size(0), device=ids.device)
    return F.linear(one_hot.to(weight.dtype), weight.t())


@one_hot_embedding.right("gather")
def one_hot_embedding(ids, weight):
    index = ids.reshape(-1, 1).expand(-1, weight.size(1))
    return weight.gather(0, index).reshape(ids.shape + weight.shape[1:])


@one_hot_embedding.right("a loop")
def one_hot_embedding(ids, weight):
    rows = [weight[i] for i in ids.reshape(-1).tolist()]
    return torch.stack(rows).view(*ids.shape, -1)


# --- lookup_gradient --------------------------------------------------------------

lookup_gradient = answer("transformer.analysis.embeddings.lookup_gradient")


@lookup_gradient.wrong("+= on an index", names="word's last occurrence")
def lookup_gradient(ids, upstream, vocab_size):
    table = torch.zeros(vocab_size, upstream.size(-1), dtype=upstream.dtype)
    table[ids] += upstream
    return table


@lookup_gradient.wrong("an assignment", names="word's last occurrence")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.size(-1)
    table = torch.zeros(vocab_size, d_model, dtype=upstream.dtype)
    for word, row in zip(ids.flatten(), upstream.reshape(-1, d_model), strict=True):
        table[word] = row
    return table


@lookup_gradient.wrong("only the first occurrence", names="word's first occurrence")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.size(-1)
    table = torch.zeros(vocab_size, d_model, dtype=upstream.dtype)
    flat, seen = ids.flatten().tolist(), set()
    for i in range(len(flat)):
        if flat[i] not in seen:
            table[flat[i]] = upstream.reshape(-1, d_model)[i]
            seen.add(flat[i])
    return table


by_one_hot = answer(
    "transformer.analysis.embeddings.lookup_gradient",
    body("""
        one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
        return one_hot.T @ upstream.reshape(-1, upstream.size(-1))
        """),
)
answer("transformer.analysis.embeddings.lookup_gradient").with_faults(
    "kept buffer state default float32 rounded written cpu"
)
by_one_hot.wrong(
    "the mean over the occurrences",
    swap(
        "(-1, upstream.size(-1))",
        "(-1, upstream.size(-1)) / one_hot.sum(dim=0).clamp(min=1).unsqueeze(-1)",
    ),
)
by_one_hot.wrong(
    "the sum divided by the number of sentences",
    swap(
        "return one_hot.T @ upstream.reshape(-1, upstream.size(-1))",
        """
        table = one_hot.T @ upstream.reshape(-1, upstream.size(-1))
        return table / (len(ids) if ids.dim() else 1)
        """,
    ),
)
by_one_hot.wrong(
    "the sum divided by the number of tokens",
    swap("(-1, upstream.size(-1))", "(-1, upstream.size(-1)) / ids.numel()"),
)
by_one_hot.wrong(
    "the transposed gradient",
    swap("one_hot.T @ upstream", "upstream"),
    swap("(-1, upstream.size(-1))", "(-1, upstream.size(-1)).T @ one_hot"),
)


@lookup_gradient.wrong("the number of occurrences")
def lookup_gradient(ids, upstream, vocab_size):
    counts = torch.bincount(ids.flatten(), minlength=vocab_size)
    table = torch.zeros(vocab_size, upstream.size(-1), dtype=upstream.dtype)
    return table + counts.unsqueeze(-1)


by_one_hot.wrong("the gradient with the opposite sign", swap("return", "return -"))
by_one_hot.wrong(
    "the factor √d_model",
    swap("upstream.size(-1))", "upstream.size(-1)) * math.sqrt(upstream.size(-1))"),
    names="times √d_model",
)
lookup_gradient.wrong(
    "an unused result of index_add",
    swap(
        "return table.index_add(0, ids.reshape(-1), upstream.reshape(-1, d_model))",
        """
        table.index_add(0, ids.reshape(-1), upstream.reshape(-1, d_model))
        return table
        """,
    ),
    names="only zeros",
)


@lookup_gradient.wrong("only the words that occur", names="that do not occur")
def lookup_gradient(ids, upstream, vocab_size):
    distinct, places = ids.flatten().unique(return_inverse=True)
    d_model = upstream.size(-1)
    table = torch.zeros(len(distinct), d_model, dtype=upstream.dtype)
    return table.index_add(0, places, upstream.reshape(-1, d_model))


by_one_hot.wrong(
    "a number of rows from the batch",
    swap("ids, vocab_size", "ids"),
    names="only up to the larg",
)


@lookup_gradient.wrong(
    "a gradient without padding", names="zeros in the row of padding"
)
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
    table = one_hot.T @ upstream.reshape(-1, upstream.size(-1))
    table[1] = 0
    return table


lookup_gradient.wrong(
    "a view of a tensor that is not contiguous",
    swap("reshape(-1), upstream.reshape", "flatten(), upstream.view"),
    names="`view` on a tensor",
)


@lookup_gradient.wrong("a gradient without row 0", names="zeros in row 0")
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype).flatten(0, -2)
    table = one_hot.T @ upstream.reshape(-1, upstream.size(-1))
    table[0] = 0
    return table


@lookup_gradient.wrong(
    "code that does not work for a single number", names="a single number"
)
def lookup_gradient(ids, upstream, vocab_size):
    table = upstream.new_zeros(vocab_size, upstream.size(-1))
    for row, gradient in zip(ids, upstream, strict=True):
        rows = gradient.reshape(-1, upstream.size(-1))
        table = table.index_add(0, row.reshape(-1), rows)
    return table


@lookup_gradient.wrong("counts in uint8", diagnosed=False)
def lookup_gradient(ids, upstream, vocab_size):
    flat, rows = ids.reshape(-1), upstream.reshape(-1, upstream.size(-1))
    counts = torch.bincount(flat, minlength=vocab_size)
    mean = upstream.new_zeros(vocab_size, rows.size(1)).index_add(0, flat, rows)
    mean = mean / counts.clamp(min=1)[:, None]
    return mean * counts.to(torch.uint8)[:, None]


lookup_gradient.wrong(
    "zeros",
    body("return upstream.new_zeros(vocab_size, upstream.size(-1))"),
    names="zeros",
)


@lookup_gradient.wrong("a table in float32", names="a fixed dtype")
def lookup_gradient(ids, upstream, vocab_size):
    table = torch.zeros(vocab_size, upstream.size(-1))
    return table.index_add(
        0, ids.flatten(), upstream.reshape(-1, upstream.size(-1)).float()
    )


@lookup_gradient.wrong(
    "code that works only for (b, t)", names="only for ids of shape (b, t)"
)
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype)
    return torch.einsum("btv,btd->vd", one_hot, upstream)


@lookup_gradient.wrong(
    "a separate table for each sentence", names="one table for each sentence"
)
def lookup_gradient(ids, upstream, vocab_size):
    one_hot = F.one_hot(ids, vocab_size).to(upstream.dtype)
    return one_hot.transpose(-2, -1) @ upstream


@lookup_gradient.wrong("backward", names="the whole answer")
def lookup_gradient(ids, upstream, vocab_size):
    table = upstream.new_zeros(vocab_size, upstream.size(-1), requires_grad=True)
    table[ids].backward(upstream)
    return table.grad


@lookup_gradient.wrong(
    "a direct call of torch.autograd.grad", names="a call that is the whole answer"
)
def lookup_gradient(ids, upstream, vocab_size):
    table = upstream.new_zeros(vocab_size, upstream.size(-1), requires_grad=True)
    (gradient,) = torch.autograd.grad(table[ids], table, upstream)
    return gradient


@lookup_gradient.wrong(
    "autograd with the name grad", names="a call that is the whole answer"
)
def lookup_gradient(ids, upstream, vocab_size):
    from torch.autograd import grad

    table = upstream.new_zeros(vocab_size, upstream.size(-1), requires_grad=True)
    (gradient,) = grad(table[ids], table, upstream)
    return gradient


@lookup_gradient.wrong("torch.func.vjp", names="a call that is the whole answer")
def lookup_gradient(ids, upstream, vocab_size):
    table = upstream.new_zeros(vocab_size, upstream.size(-1))
    _, pull_back = torch.func.vjp(lambda table: table[ids], table)
    return pull_back(upstream)[0]


by_one_hot.right(
    "transposed one-hot vectors times the gradient",
    swap("ids,", "ids.flatten(),"),
    swap("(upstream.dtype).flatten(0, -2)", "(upstream.dtype)"),
)


@lookup_gradient.right("a loop over the tokens")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.shape[-1]
    table = upstream.new_zeros(vocab_size, d_model)
    rows = upstream.reshape(-1, d_model)
    for i, word in enumerate(ids.flatten().tolist()):
        table[word] += rows[i]
    return table


@lookup_gradient.right("index_put_ that accumulates")
def lookup_gradient(ids, upstream, vocab_size):
    table = torch.zeros(vocab_size, upstream.size(-1)).to(upstream)
    return table.index_put_((ids,), upstream, accumulate=True)


@lookup_gradient.right("scatter_add")
def lookup_gradient(ids, upstream, vocab_size):
    d_model = upstream.size(-1)
    index = ids.reshape(-1, 1).expand(-1, d_model)
    table = upstream.new_zeros((vocab_size, d_model))
    return table.scatter_add(0, index, upstream.reshape(-1, d_model))


@lookup_gradient.right("a sum for each word of the vocabulary")
def lookup_gradient(ids, upstream, vocab_size):
    rows = [upstream[ids == word].sum(dim=0) for word in range(vocab_size)]
    return torch.stack(rows)


@lookup_gradient.right("einsum")
def lookup_gradient(ids, upstream, vocab_size):
    is_word = ids.unsqueeze(-1) == torch.arange(vocab_size, device=ids.device)
    return torch.einsum("...v,...d->vd", is_word.to(upstream.dtype), upstream)


@lookup_gradient.right("a table that is called grad")
def lookup_gradient(ids, upstream, vocab_size):
    grad = upstream.new_zeros(vocab_size, upstream.size(-1))
    grad.index_add_(0, ids.flatten(), upstream.reshape(-1, grad.size(1)))
    return grad


# --- TokenEmbedding ---------------------------------------------------------------

token_embedding = answer("transformer.embeddings.TokenEmbedding.forward")
token_embedding.wrong(
    "the vectors without the factor √d_model", body("return self.table(ids)")
)
token_embedding.wrong("the vectors divided by √d_model", swap("* math", "/ math"))
token_embedding.wrong(
    "the vectors times d_model",
    swap("math.sqrt(self.d_model)", "self.d_model"),
    names="not its square root",
)
token_embedding.wrong(
    "the vectors with the factor √vocab_size", swap("d_model", "table.num_embeddings")
)
token_embedding.wrong(
    "the factor √(number of tokens)",
    swap("self.d_model", "ids.size(-1)"),
    names="root of the num",
)
token_embedding.wrong(
    "a detached result", swap("(ids)", "(ids).detach()"), names="is cut off"
)
token_embedding.wrong(
    "a look-up in .data",
    swap("(ids)", ".weight.data[ids]"),
    names="the gradient is cut off",
)


@token_embedding.wrong(
    "a table that is scaled in place", names="a call that changes the table"
)
def forward(self, ids):
    with torch.no_grad():
        self.table.weight.mul_(math.sqrt(self.d_model))
    return self.table(ids)


token_embedding.wrong(
    "vectors that are scaled to the same length",
    swap("self.table(ids)", "F.normalize(self.table(ids), dim=-1)"),
    names="scaling to length",
)
token_embedding.wrong(
    "a sum instead of a product", swap("* math", "+ math"), names="plus √d_model"
)
token_embedding.wrong(
    "the same vector for all words of a sentence",
    swap("(ids)", "(ids).sum(dim=-2)"),
    names="the same vector for all words",
)
token_embedding.wrong(
    "dropout in the layer",
    swap("self.table(ids)", "F.dropout(self.table(ids), 0.1)"),
    diagnosed=False,
)
token_embedding.wrong(
    "zeros",
    body("return torch.zeros(*ids.shape, self.d_model)"),
    names="the same result for different inputs",
)
token_embedding.right(
    "the power 0.5", swap("math.sqrt(self.d_model)", "self.d_model**0.5")
)


@token_embedding.right("a width from the shape of the table")
def forward(self, ids):
    vectors = self.table(ids)
    return math.sqrt(vectors.size(-1)) * vectors


@token_embedding.right("F.embedding")
def forward(self, ids):
    return F.embedding(ids, self.table.weight) * torch.tensor(self.d_model).sqrt().to(
        self.table.weight.dtype
    )


@token_embedding.right("one-hot vectors times the scaled table")
def forward(self, ids):
    weight = self.table.weight * math.sqrt(self.d_model)
    return F.one_hot(ids, len(weight)).to(weight.dtype) @ weight


@token_embedding.right("the function of exercise 2")
def forward(self, ids):
    return one_hot_embedding(ids, self.table.weight).mul(math.sqrt(self.d_model))


@token_embedding.right("index_select")
def forward(self, ids):
    rows = self.table.weight.index_select(0, ids.flatten())
    return rows.view(*ids.shape, self.d_model) / self.d_model**-0.5


TokenEmbedding = answer("transformer.embeddings.TokenEmbedding")


TokenEmbedding.wrong(
    "padding_idx=1",
    swap("nn.Embedding(vocab_size, d_model)", "nn.Embedding(vocab_size, d_model, 1)"),
    names="whose row 1 is never trained",
)


@TokenEmbedding.right("a different constructor with a plain parameter from N(0, 1/d)")
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)

    def forward(self, ids):
        return self.weight[ids] * self.weight.size(1) ** 0.5


@TokenEmbedding.right("a different constructor with the factor in a saved buffer")
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.register_buffer("scale", torch.tensor(math.sqrt(d_model)))
        self.table = nn.Embedding(vocab_size, d_model)

    def forward(self, ids):
        return self.table(ids) * self.scale


# --- tie_weights ------------------------------------------------------------------

tie_weights = answer("transformer.embeddings.tie_weights")
tie_weights.wrong(
    "a copy",
    body("projection.weight.data.copy_(embedding.table.weight.data)"),
    names="a copy instead of one shared parameter",
)
tie_weights.wrong(
    "a clone",
    body("projection.weight = nn.Parameter(embedding.table.weight.detach().clone())"),
    names="a copy instead of one shared parameter",
)
tie_weights.wrong(
    "a new parameter around the same data",
    body("projection.weight = nn.Parameter(embedding.table.weight.data)"),
    names="share their memory through .data",
)
tie_weights.wrong(
    "a shared .data",
    body("projection.weight.data = embedding.table.weight.data"),
    names="share their memory through .data",
)


@tie_weights.wrong("load_state_dict", names="a copy instead of one shared parameter")
def tie_weights(embedding, projection):
    state = projection.state_dict()
    state["weight"] = embedding.table.weight
    projection.load_state_dict(state)


tie_weights.wrong(
    "the projection's matrix in the embedding",
    body("embedding.table.weight = projection.weight"),
    names="the projection's matrix in the",
)
tie_weights.wrong(
    "nothing is tied",
    swap(
        "projection.weight = embedding",
        """
        weight = projection.weight
        weight = embedding
        """,
    ),
    names="the old matrix",
)


@tie_weights.wrong("a different order", names="in a different order")
def tie_weights(embedding, projection):
    rows = embedding.table.weight
    projection.weight = nn.Parameter(rows.detach().reshape(rows.size(1), -1).T)


tie_weights.wrong(
    "a projection without its bias",
    swap(
        "projection.weight = embedding",
        """
        projection.bias = None
        projection.weight = embedding
        """,
    ),
    names="the loss of the bias",
)
tie_weights.wrong(
    "a frozen matrix",
    insert(
        "embedding.table.weight.requires_grad_(False)", before="projection.weight = "
    ),
    names="the gradient is cut off",
)


@tie_weights.wrong(
    "a copy under no_grad", names="a copy instead of one shared parameter"
)
def tie_weights(embedding, projection):
    with torch.no_grad():
        projection.weight[:] = embedding.table.weight


tie_weights.wrong(
    "a bias that is set to zero",
    insert("projection.bias.data.zero_()", before="projection.weight ="),
    diagnosed=False,
)
tie_weights.wrong(
    "code that works only with a bias",
    swap(
        "projection.weight = embedding.table.weight",
        """
        bias = projection.bias.detach().clone()
        projection.weight = embedding.table.weight
        projection.bias.data.copy_(bias)
        """,
    ),
    names="works only with a bias",
)
tie_weights.wrong(
    "a function that does nothing", body("return None"), names="nothing was tied"
)
tie_weights.right(
    "setattr", body('setattr(projection, "weight", embedding.table.weight)')
)
tie_weights.right(
    "register_parameter",
    body('projection.register_parameter("weight", embedding.table.weight)'),
)


@tie_weights.right("a deletion of the old matrix first")
def tie_weights(embedding, projection):
    shared = embedding.table.weight
    del projection.weight
    projection.weight = shared


@tie_weights.right("a function that also returns the layer")
def tie_weights(embedding, projection):
    projection.weight = embedding.table.weight
    return projection


@tie_weights.right("get_parameter")
def tie_weights(embedding, projection):
    projection.weight = embedding.get_parameter("table.weight")
    assert projection.weight is embedding.table.weight


tie_weights.right(
    "the dictionary of parameters",
    body('projection._parameters["weight"] = embedding.table._parameters["weight"]'),
)


# --- answers that try to pass without solving the exercise ------------------------

own_strings = answer("transformer.data.word_counts.build_vocabulary")
for form in ("NFC", "NFKC"):
    own_strings.wrong(
        f"words in the Unicode form {form}",
        swap(
            "Counter(token for",
            f'Counter(__import__("unicodedata").normalize("{form}", token) for',
        ),
        names=f"words converted to the Unicode form {form}",
    )
own_strings.wrong(
    "words without the spaces around them",
    swap("Counter(token for", "Counter(token.strip() for"),
    names="words without the spaces around them",
)
own_strings.wrong(
    "a list without the empty word",
    swap("for token in sentence)", "for token in sentence if token)"),
    names="without the empty word",
)
scaled = answer("transformer.embeddings.TokenEmbedding.forward")
scaled.with_faults("kept state default detached float32 written cpu")
scaled.wrong(
    "the factor of the first layer",
    body("""
    if not hasattr(type(self), "factor"):
        type(self).factor = math.sqrt(self.d_model)
    return self.table(ids) * type(self).factor
    """),
    names="the factor of a layer with a different width",
)
scaled.wrong(
    "the scaled table kept in evaluation",
    body("""
    if self.training:
        return self.table(ids) * math.sqrt(self.d_model)
    if "kept" not in self.__dict__:
        self.__dict__["kept"] = self.table.weight * math.sqrt(self.d_model)
    return self.kept[ids]
    """),
    names="a table from an earlier call",
)
scaled.wrong(
    "results that are kept for each tensor in evaluation",
    body("""
    if self.training:
        return self.table(ids) * math.sqrt(self.d_model)
    kept = self.__dict__.setdefault("kept", {})
    if id(ids) not in kept:
        kept[id(ids)] = self.table(ids) * math.sqrt(self.d_model), ids
    return kept[id(ids)][0]
    """),
    names="a result kept from an earlier call",
)
scaled.right(
    "a multiplication in place in a new tensor",
    swap(
        "self.table(ids) * math.sqrt(self.d_model)",
        "self.table(ids).mul_(self.table.embedding_dim**0.5)",
    ),
)
answer("transformer.embeddings.tie_weights").wrong(
    "a bias that is no longer trained",
    body("""
    projection.weight = embedding.table.weight
    if projection.bias is not None:
        projection.bias.requires_grad_(False)
    """),
    names="a bias that is no longer trained",
)
