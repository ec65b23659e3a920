// Reading a prompt and continuing it, with the answers that `regard serve` gives to its writing desk.

import { entropyOf } from "../views/next/filters.js";
import { attentionWithin, labelsOf } from "./attending.js";
import { NOTHING_READ } from "./language.js";
import { bestToken, drawnFrom, drawToken, ranked, uniform } from "./sampling.js";
import { Untranslatable } from "./refusing.js";
import { pause } from "./unpacking.js";
import { visibleWord } from "./visible.js";

/** @import { Language, Memory, Reading } from "./language.js" */
/** @import { Sampling } from "./sampling.js" */
/** @import { Tokeniser } from "./tokeniser.js" */
/** @typedef {{ token: string, text: string, score: number | null }} Told */
/** @typedef {{ tokens: number, past_end: boolean, sample?: Sampling, when_full?: string }} Searching */

const BROKEN = "\ufffd"; // at the end of a text whose last letter is incomplete
const BREATH = 40; // milliseconds after which the browser may draw and listen
const LOOKED_BACK = 512; // tokens of a line that decide how the next one is written

/**
 * The text of tokens; an end becomes a line break.
 * @type {(tokeniser: Tokeniser, tokens: number[]) => string}
 */
export function textOfTokens(tokeniser, tokens) {
  /** @type {number[][]} */
  const lines = [[]];
  for (const token of tokens) {
    if (token === tokeniser.end) lines.push([]);
    else lines[lines.length - 1].push(token);
  }
  return lines.map((line) => tokeniser.decode(line)).join("\n");
}

/**
 * The tokens of a prompt; a line break is an end, unless the tokeniser has tokens for it.
 * @type {(tokeniser: Tokeniser, text: string) => number[]}
 */
export function tokensOfPrompt(tokeniser, text) {
  if (tokeniser.readsBreaks) return tokeniser.encode(text);
  return text.split("\n").flatMap((line, place) => [...(place ? [tokeniser.end] : []), ...tokeniser.encode(line)]);
}

/**
 * The last line of the tokens, which decides how the next one is written.
 * @type {(tokens: number[], end: number) => number[]}
 */
function lastLine(tokens, end) {
  const recent = tokens.slice(-LOOKED_BACK);
  return recent.slice(recent.lastIndexOf(end) + 1);
}

/**
 * A function that says what each further token adds to a text.
 * @type {(tokeniser: Tokeniser, read: number[]) => (token: number, score: number) => Told}
 */
export function makeTeller(tokeniser, read) {
  let line = lastLine(read, tokeniser.end);
  let text = textOfTokens(tokeniser, line);
  return (token, score) => {
    line.push(token);
    const whole = textOfTokens(tokeniser, line);
    const added = whole.endsWith(BROKEN) || !whole.startsWith(text) ? "" : whole.slice(text.length);
    if (added) text = whole;
    if (token === tokeniser.end || line.length > 2 * LOOKED_BACK) {
      line = lastLine(line, tokeniser.end);
      text = textOfTokens(tokeniser, line);
    }
    return { token: tokeniser.names([token])[0], text: added, score };
  };
}

/**
 * A writer with the model of the page. `forgets` says whether a full context is forgotten by half, or ends the text.
 * @type {(language: Language, tokeniser: Tokeniser, forgets: boolean) => any}
 */
export function makeWriting(language, tokeniser, forgets) {
  const { context } = language;

  /** @type {(tokens: number[], when?: string) => number} */
  const roomAfter = (tokens, when) => {
    if (when === "forget" || (forgets && when !== "stop")) return Infinity;
    if (tokens.length > context - 2) {
      throw new Untranslatable("onefile.long_prompt", { count: tokens.length, most: context - 2 });
    }
    return context - tokens.length - 1;
  };

  /**
   * Read a prompt after an end token, the last token by itself, as a search does.
   * @type {(tokens: number[]) => Promise<Reading>}
   */
  const readAll = async (tokens) => {
    const whole = [tokeniser.end, ...tokens];
    const before = await language.read(whole.slice(0, -1), NOTHING_READ);
    const last = await language.read(whole.slice(-1), before.memory);
    return { logs: [...before.logs, ...last.logs], memory: last.memory };
  };

  /**
   * How many of the first tokens of a text are forgotten after reading it behind an end.
   * @type {(tokens: number) => number}
   */
  const forgotten = (tokens) => {
    const atOnce = context - Math.floor(context / 2);
    return Math.max(0, Math.ceil((tokens + 1 - context) / atOnce) * atOnce - 1);
  };

  return {
    /**
     * @type {(prompt: string, shown: number, options: { sample?: Sampling, when_full?: string }) => Promise<any>}
     */
    read: async (prompt, shown, { sample, when_full: when }) => {
      const tokens = tokensOfPrompt(tokeniser, prompt);
      const room = roomAfter(tokens, when);
      const { logs, memory } = await readAll(tokens);
      const tell = makeTeller(tokeniser, []);
      return {
        stem: stemOf(prompt, textOfTokens(tokeniser, tokens)),
        tokens: tokens.map((token, place) => tell(token, logs[place][token])),
        ...nextTokens(tokeniser, tokens, logs[logs.length - 1], shown, sample),
        room: room === Infinity ? null : room,
        forgotten: forgotten(tokens.length),
        explain: () => {
          const next = comingAfter(tokeniser, tokens, logs[logs.length - 1]);
          return { attention: lookingBack(tokeniser, memory), next };
        },
      };
    },
    /**
     * @type {(prompt: string, search: Searching, signal: AbortSignal, tell: (told: Told) => void) => Promise<any>}
     */
    write: async (prompt, { tokens: most, past_end: passes, sample, when_full: when }, signal, tell) => {
      const read = tokensOfPrompt(tokeniser, prompt);
      const limit = Math.min(most, roomAfter(read, when));
      const say = makeTeller(tokeniser, read);
      let { logs, memory } = await readAll(read);
      /** @type {number[]} */
      const written = [];
      let [ended, rested] = [limit === most ? "tokens" : "context", performance.now()];
      while (written.length < limit) {
        if (performance.now() - rested > BREATH) {
          await pause();
          rested = performance.now();
        }
        signal.throwIfAborted();
        const last = logs[logs.length - 1];
        const chance = sample ? uniform(sample.seed ?? 1, 0, 0, written.length) : 0;
        const token = sample ? drawToken(last, sample, chance) : bestToken(last);
        if (Number.isNaN(last[token])) throw new Untranslatable("onefile.no_numbers");
        if (token === tokeniser.end && !passes) {
          ended = "end";
          break;
        }
        written.push(token);
        tell(say(token, last[token]));
        if (written.length < limit) ({ logs, memory } = await language.read([token], memory));
      }
      const before = textOfTokens(tokeniser, read);
      const text = textOfTokens(tokeniser, [...read, ...written]);
      return {
        text: stemOf(prompt, before) + (text.startsWith(before) ? text.slice(before.length) : text),
        tokens: tokeniser.names(written),
        ended,
        forgotten: forgotten(read.length + written.length),
      };
    },
  };
}

/**
 * The prompt as continuations are joined to it; spaces at its end that no token stands for are left out.
 * @type {(prompt: string, written: string) => string}
 */
const stemOf = (prompt, written) => (["", prompt].includes(written) ? prompt : prompt.replace(/ +$/, ""));

/**
 * The tokens that may come next, the most probable first, and how hard they are to guess.
 * @type {(tokeniser: Tokeniser, read: number[], logs: Float32Array, shown: number, sample?: Sampling) => any}
 */
function nextTokens(tokeniser, read, logs, shown, sample) {
  const order = ranked(logs);
  const possible = order.findLastIndex((token) => logs[token] > -Infinity) + 1;
  const kept = sample ? drawnFrom(logs, order, sample) : null;
  const line = lastLine(read, tokeniser.end);
  const before = textOfTokens(tokeniser, line);
  const next = [...order.slice(0, Math.min(shown, possible))].map((token, rank) => {
    const text = textOfTokens(tokeniser, [...line, token]);
    const added = text.startsWith(before) ? text.slice(before.length) : text;
    const probability = Math.exp(logs[token]);
    const drawn = kept && Math.exp(kept[rank]);
    const end = token === tokeniser.end;
    return { token: tokeniser.names([token])[0], text: added.includes(BROKEN) ? "" : added, probability, drawn, end };
  });
  const others = order.slice(next.length, possible).reduce((sum, token) => sum + Math.exp(logs[token]), 0);
  const perplexity = Math.exp(entropyOf(Float64Array.from(logs)));
  return { next, rest: { count: possible - next.length, probability: others }, perplexity };
}

/** @type {(tokeniser: Tokeniser, memory: Memory) => any} */
function lookingBack(tokeniser, { tokens, looks }) {
  const text = { text: visibleWord(textOfTokens(tokeniser, tokens)), language: "" };
  const modes = attentionWithin(looks, (byWord) => labelsOf(tokeniser, tokens, byWord));
  return { source: text, target: text, modes };
}

const MOST_LISTED = 50; // tokens in the view of the next one

/** @type {(tokeniser: Tokeniser, read: number[], logs: Float32Array) => any} */
function comingAfter(tokeniser, read, logs) {
  const order = [...ranked(logs)].filter((token) => logs[token] > -Infinity);
  const listed = order.slice(0, MOST_LISTED);
  const probability = order.slice(MOST_LISTED).reduce((sum, token) => sum + Math.exp(logs[token]), 0);
  return {
    before: tokeniser.names(read.slice(-LOOKED_BACK)),
    tokens: tokeniser.names(listed),
    taken: null,
    log_probabilities: listed.map((token) => logs[token]),
    rest: { count: order.length - listed.length, probability },
    language: "",
  };
}
