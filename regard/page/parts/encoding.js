// Files in the server's format.

import { Refusal } from "./server.js";
import { say } from "./texts.js";

/**
 * The bytes of a file as base64; if there are more than `most`, throws a refusal with this text.
 * @type {(file: Blob, most: number, words: string) => Promise<string>}
 */
export async function encoded(file, most, words) {
  if (file.size > most) throw new Refusal(say(words, { size: file.size, most }));
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
