// The binary parts of the page: base64 of deflated bytes, inflated one after another.

const CHUNK = 1 << 20; // characters decoded at once; a multiple of four

/** Let the browser draw what has changed. */
export const pause = () => new Promise((done) => setTimeout(done));

/**
 * All parts by name; `report` is called with the share that is done. The texts are removed to free their memory.
 * @type {(report: (share: number) => void) => Promise<Record<string, Uint8Array>>}
 */
export async function unpackParts(report) {
  const holders = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".part")]);
  const all = holders.reduce((sum, { textContent }) => sum + (textContent ?? "").length, 0);
  /** @type {Record<string, Uint8Array>} */
  const parts = {};
  let before = 0;
  for (const holder of holders) {
    const text = holder.textContent ?? "";
    const done = before;
    const packed = await decodeBase64(text, (characters) => report((done + characters) / all));
    parts[String(holder.dataset.name)] = await inflate(packed);
    holder.remove();
    before += text.length;
  }
  return parts;
}

/** @type {(text: string, report: (characters: number) => void) => Promise<Uint8Array>} */
async function decodeBase64(text, report) {
  const padding = text.endsWith("==") ? 2 : Number(text.endsWith("="));
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let at = 0, to = 0; at < text.length; at += CHUNK) {
    const piece = atob(text.slice(at, at + CHUNK));
    for (let place = 0; place < piece.length; place++) bytes[to++] = piece.charCodeAt(place);
    report(at);
    await pause();
  }
  return bytes;
}

/** @type {(packed: Uint8Array) => Promise<Uint8Array>} */
async function inflate(packed) {
  const stream = new Blob([/** @type {BlobPart} */ (packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
