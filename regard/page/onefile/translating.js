// Translating one line: tokens, search, text, and what the views show of it.

import { attentionModes, meanLooks } from "./attending.js";
import { treeOf } from "./branching.js";
import { readSentence } from "./network.js";
import { Untranslatable } from "./refusing.js";
import { beamSearch, outputLimit, scoreOfHypothesis } from "./search.js";
import { makeTokeniser, stripped } from "./tokeniser.js";
import { pause } from "./unpacking.js";
import { visibleWord } from "./visible.js";
import { wordLinks } from "./words.js";

/** @import { Network, Sizes } from "./network.js" */
/** @import { Searching, Step } from "./search.js" */
/** @import { TokeniserData } from "./tokeniser.js" */
/**
 * @typedef {object} Enclosed the data of the page
 * @property {any} model
 * @property {Searching} search
 * @property {number} longest tokens of a text, including its end
 * @property {Sizes} sizes
 * @property {{ source: TokeniserData, target?: TokeniserData }} tokenisers
 */
/**
 * @typedef {object} Output
 * @property {string} text
 * @property {number} score
 * @property {string[]} tokens
 * @property {[number, number][]} alignment
 * @property {() => any} explain the data of the views
 */
/** @typedef {(text: string, signal?: AbortSignal) => Promise<Output | null>} Translate null if there are no tokens */

const BUSY = 40; // milliseconds after which the browser may draw and listen

/**
 * A function that translates one line with the model of the page.
 * @type {(data: Enclosed, network: Network) => Translate}
 */
export function makeTranslate({ model, search, longest, tokenisers: stored }, network) {
  const source = makeTokeniser(stored.source);
  const target = stored.target ? makeTokeniser(stored.target) : source;
  const tokenisers = { source, target };
  return async (line, signal) => {
    const text = stripped(line);
    const tokens = source.encode(text);
    if (!text || !tokens.length) return null;
    const read = [...tokens, source.end];
    if (read.length > longest) throw new Untranslatable("onefile.too_long", { count: read.length, longest });
    const { looks, write } = await readSentence(network, read, target.end);
    const step = interruptible(write, signal);
    const limit = outputLimit(search, read.length, longest);
    const { finished, record } = await beamSearch(step, limit, target.begin, target.end, search);
    const [best] = finished;
    if (!best || Number.isNaN(best.total)) throw new Untranslatable("onefile.no_numbers");
    const output = target.decode(best.tokens);
    const alignment = wordLinks(meanLooks(best.looks, read.length), target.words(best.tokens), source.words(tokens));
    const texts = {
      source: { text: visibleWord(text), language: model.source.code },
      target: { text: output ? visibleWord(output) : "", language: model.target.code },
    };
    return {
      text: output,
      score: scoreOfHypothesis(best, search),
      tokens: target.names(best.tokens),
      alignment,
      explain: () => {
        const written = [...best.tokens, target.end];
        const sides = { cross: best.looks, encoder: looks, decoder: best.back };
        const modes = attentionModes(tokenisers, read, written, sides);
        return { attention: { ...texts, modes }, beam: { ...texts, ...treeOf(record, finished, target, search) } };
      },
    };
  };
}

/**
 * A step that lets the browser draw now and then, and stops when its answer is no longer needed.
 * @type {(step: Step, signal?: AbortSignal) => Step}
 */
function interruptible(step, signal) {
  let rested = performance.now();
  return async (...inputs) => {
    if (performance.now() - rested > BUSY) {
      await pause();
      rested = performance.now();
    }
    signal?.throwIfAborted();
    return step(...inputs);
  };
}
