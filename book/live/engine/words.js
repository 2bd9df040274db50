// Words from text, and their numbers.

const [UNK, , SOS, EOS] = [0, 1, 2, 3];
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]/gu;

/**
 * Split a German sentence into words and punctuation, as the course's tokeniser does.
 * @param {string} text
 * @returns {string[]}
 */
function tokenize(text) {
  return text.toLowerCase().match(WORD) ?? [];
}

/**
 * Write words as one writes them: no space in front of a full stop.
 * @param {string[]} words
 */
function detokenize(words) {
  return words.join(" ").replace(/ (?=[.,;:?!])/g, "");
}

/** The words of one language, and the number of each. */
class Vocabulary {
  /** @param {string[]} words in the order of their numbers */
  constructor(words) {
    this.words = words;
    this.numbers = new Map(words.map((word, number) => [word, number]));
  }

  /**
   * Number a sentence between `<sos>` and `<eos>`; unknown words become `<unk>`.
   * @param {string[]} tokens
   */
  encode(tokens) {
    return [SOS, ...tokens.map((token) => this.numbers.get(token) ?? UNK), EOS];
  }
}
