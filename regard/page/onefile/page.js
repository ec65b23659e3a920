// A translator in one file: unpack the model and the runtime, start the network, and open the desk.

import { byId } from "../parts/common.js";
import { fillTexts } from "../parts/filling.js";
import { enclosed } from "../parts/opening.js";
import { say } from "../parts/texts.js";
import { mountDesk } from "./desk.js";
import { makeTranslate } from "./translating.js";
import { pause, unpackParts } from "./unpacking.js";

/** @import { Session } from "./network.js" */
/** @import { Enclosed } from "./translating.js" */

const UNPACKED = 0.8; // share of the time until the page is ready

/** @type {(share: number) => void} */
function showProgress(share) {
  byId("progress").value = share;
}

/**
 * Start the runtime, which the page contains and which defines `ort`, and open both graphs.
 * @type {(data: Enclosed) => Promise<import("./network.js").Network>}
 */
async function startNetwork({ sizes }) {
  const parts = await unpackParts((share) => showProgress(share * UNPACKED));
  const { ort } = /** @type {any} */ (globalThis);
  Object.assign(ort.env.wasm, { numThreads: 1, wasmBinary: parts["runtime.wasm"].buffer });
  byId("progress-text").textContent = say("onefile.starting");
  await pause();
  const externalData = [{ path: "weights.data", data: parts["weights.data"] }];
  const options = { executionProviders: ["wasm"], externalData };
  /** @type {(name: string) => Promise<Session>} */
  const open = (name) => ort.InferenceSession.create(parts[name], options);
  const encoder = await open("encoder.onnx");
  showProgress((1 + UNPACKED) / 2);
  const step = await open("step.onnx");
  return { encoder, step, sizes, makeTensor: (kind, values, dims) => new ort.Tensor(kind, values, dims) };
}

async function beginPage() {
  fillTexts();
  const data = /** @type {Enclosed} */ (enclosed());
  document.title = `${data.model.name} · regard`;
  byId("motto").textContent = say("onefile.motto");
  byId("progress-text").textContent = say("onefile.unpacking");
  try {
    const translate = makeTranslate(data, await startNetwork(data));
    byId("loading").hidden = true;
    byId("desk").hidden = false;
    mountDesk(data.model, translate);
    Object.assign(globalThis, { translate }); // for the console, and for measuring
  } catch (error) {
    byId("loading").hidden = true;
    byId("trouble").textContent = say("onefile.failed", { reason: String(error) });
    byId("trouble").hidden = false;
    throw error;
  }
}

beginPage();
