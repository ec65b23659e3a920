// Text as bytes, and bytes as text.

const LONE = /[\ud800-\udfff]/gu; // half of a character

export const toBytes = new TextEncoder();
const fromBytes = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A text with U+FFFD for halves of characters.
 * @type {(text: string) => string}
 */
export const wholeCharacters = (text) => text.replace(LONE, "\ufffd");

/**
 * The text whose UTF-8 these fragments are; invalid bytes become U+FFFD.
 * @type {(fragments: Uint8Array[]) => string}
 */
export function joinedText(fragments) {
  const all = new Uint8Array(fragments.reduce((size, fragment) => size + fragment.length, 0));
  let at = 0;
  for (const fragment of fragments) {
    all.set(fragment, at);
    at += fragment.length;
  }
  return fromBytes.decode(all);
}
