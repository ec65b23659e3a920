// Numbers of words, counted by the spaces in the text of tokens.

const BLANK = 32; // the byte of a space

/**
 * The number of each token's word: words are separated by spaces, and a space belongs to the word after it.
 * @type {(tokens: number[], fragments: Uint8Array[], silent: Set<number>, isSpaced: boolean) => number[]}
 */
export function wordNumbers(tokens, fragments, silent, isSpaced) {
  let [words, isInside, hasBegun] = [0, false, !isSpaced];
  const numbers = tokens.map((token, place) => {
    let fragment = fragments[place];
    if (!hasBegun && !silent.has(token)) {
      hasBegun = true; // the space before the first word is not the text's own
      if (fragment[0] === BLANK) fragment = fragment.subarray(1);
    }
    for (const byte of fragment) {
      if (byte !== BLANK && !isInside) words++;
      isInside = byte !== BLANK;
    }
    return silent.has(token) ? -1 : words - Number(isInside);
  });
  return numbers.map((number) => Math.min(number, Math.max(words - 1, 0)));
}
