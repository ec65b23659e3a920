// Words and tokens with everything visible, as `regard.viewing` shows them.

const HIDDEN = /[\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu; // no shape, or it turns the line around
const UNSEEN = /(?! )\p{Zs}|(?![\u200c\u200d])\p{Cf}/gu;
const JOINING = /^[\u200c\u200d]*$/u; // only joiners, which shape letters around them
const MARK = /^\p{M}/u;
/** @type {Record<string, string>} */
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * A character as Python would escape it.
 * @type {(character: string) => string}
 */
function escapeOf(character) {
  const code = Number(character.codePointAt(0)).toString(16);
  if (Object.hasOwn(SHORT, character)) return SHORT[character];
  if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
  return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}

/**
 * A word: spaces alone become signs, and characters without a shape escapes.
 * @type {(text: string) => string}
 */
export function visibleWord(text) {
  if (!text.replaceAll(" ", "")) return "␣".repeat(Math.max(text.length, 1));
  return text.replace(HIDDEN, escapeOf);
}

/**
 * A token, which is shown by itself: odd spaces and invisible signs are escapes, and a lone mark gets a base.
 * @type {(name: string) => string}
 */
export function visibleToken(name) {
  const text = visibleWord(JOINING.test(name) ? [...name].map(escapeOf).join("") : name.replace(UNSEEN, escapeOf));
  return MARK.test(text) ? `◌${text}` : text;
}
