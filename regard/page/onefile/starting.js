// Start of a one-file page: unpack the model and the runtime, open the graphs, and say what goes wrong.

import { byId } from "../parts/common.js";
import { fillTexts } from "../parts/filling.js";
import { enclosed } from "../parts/opening.js";
import { say } from "../parts/texts.js";
import { pause, unpackParts } from "./unpacking.js";

/** @import { Session, Tensor } from "./network.js" */
/** @typedef {(kind: string, data: any, dims: number[]) => Tensor} MakeTensor */
/** @typedef {Record<string, Uint8Array>} Parts */

const UNPACKED = 0.8; // share of the time until the page is ready

/** @type {(share: number) => void} */
function showProgress(share) {
  byId("progress").value = share;
}

/**
 * Start the runtime, which the page contains and which defines `ort`, and open the graphs of these names that it has.
 * @type {(names: string[]) => Promise<{ sessions: Session[], makeTensor: MakeTensor, parts: Parts }>}
 */
async function openGraphs(names) {
  const parts = await unpackParts((share) => showProgress(share * UNPACKED));
  const { ort } = /** @type {any} */ (globalThis);
  Object.assign(ort.env.wasm, { numThreads: 1, wasmBinary: parts["runtime.wasm"].buffer });
  byId("progress-text").textContent = say("onefile.starting");
  await pause();
  const externalData = [{ path: "weights.data", data: parts["weights.data"] }];
  const sessions = [];
  for (const name of names.filter((each) => each in parts)) {
    sessions.push(await ort.InferenceSession.create(parts[name], { executionProviders: ["wasm"], externalData }));
    showProgress(UNPACKED + ((1 - UNPACKED) * sessions.length) / (names.length + 1));
  }
  return { sessions, makeTensor: (kind, values, dims) => new ort.Tensor(kind, values, dims), parts };
}

/**
 * Open the graphs and mount the desk; `mount` gets the data of the page, the graphs, the maker of their inputs, and the
 * unpacked parts of the page.
 * @type {(motto: string, names: string[],
 *   mount: (data: any, sessions: Session[], makeTensor: MakeTensor, parts: Parts) => void) => Promise<void>}
 */
export async function startPage(motto, names, mount) {
  fillTexts();
  const data = enclosed();
  document.title = `${data.model.name} · regard`;
  byId("motto").textContent = motto;
  byId("progress-text").textContent = say("onefile.unpacking");
  try {
    const { sessions, makeTensor, parts } = await openGraphs(names);
    byId("loading").hidden = true;
    byId("desk").hidden = false;
    mount(data, sessions, makeTensor, parts);
  } catch (error) {
    byId("loading").hidden = true;
    byId("trouble").textContent = say("onefile.failed", { reason: String(error) });
    byId("trouble").hidden = false;
    throw error;
  }
}
