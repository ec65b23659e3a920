// Transcribing: a sound file with a player, its transcript, and below it the alignment of frames and symbols.

import { remember, wished } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { byId, element, section, signed } from "../parts/common.js";
import { encoded } from "../parts/encoding.js";
import { mountFrames, showFrames } from "../views/frames.js";
import { showKnowledge } from "../parts/knowing.js";
import { savable } from "../parts/saving.js";
import { ask } from "../parts/server.js";
import { duration, say, soundSeconds } from "../parts/texts.js";

/** @import { Model } from "../parts/server.js" */

/** @type {Model[]} */
let models = [];
/** @type {Record<string, number>} */
let limits = {};
/** @type {any} */
let shown = null; // the displayed transcript

const hideTranscript = () => ["transcript-part", "transcribe-frames"].forEach((part) => (byId(part).hidden = true));
const asking = oneAtATime("transcript-part", "transcribe-trouble", hideTranscript);
/** @type {() => Model} */
const model = () => models.find(({ name }) => name === byId("transcriber").value) ?? models[0];

/** Show the state that the address describes. */
export function followTranscribing() {
  const { transcriber } = wished();
  if (models.some(({ name }) => name === transcriber)) byId("transcriber").value = transcriber;
  showKnowledge(byId("transcribe-knowing"), [model()], () => {});
  transcribeAgain();
}

/** The chosen sound in the server's format, or nothing if none is chosen. */
async function chosenSound() {
  const [file] = byId("sound-file").files;
  const heard = byId("heard");
  URL.revokeObjectURL(heard.src);
  heard.hidden = !file;
  if (!file) return null;
  heard.src = URL.createObjectURL(file);
  return { sound: await encoded(file, limits.sound, "transcribe.too_large") };
}

/** Ask for a transcript of the chosen sound; an earlier request that is still pending is cancelled. */
export async function transcribeAgain() {
  const { name, can } = model();
  await asking.attempt(async (signal) => {
    const sound = await chosenSound();
    if (signal.aborted) return;
    if (!sound) return hideTranscript();
    const found = await ask("v1/transcribe", { model: name, sounds: [sound] }, signal);
    if (signal.aborted) return;
    byId("transcribe-frames").hidden = true; // they belong to the previous sound
    showTranscript(found);
    if (!can.includes("look")) return;
    const { looks } = await ask("v1/look", { model: name, input: sound }, signal);
    if (signal.aborted) return;
    mountFrames(byId("transcribe-frames"));
    byId("transcribe-frames").hidden = false;
    showFrames(looks, wished());
  });
}

/** @type {(found: any) => void} */
function showTranscript(found) {
  const [{ text, score, alignment }] = found.transcripts;
  shown = found;
  byId("transcript").textContent = text || say("transcribe.nothing");
  const lines = alignment.map((/** @type {[string, number, number]} */ [symbol, start, end]) => {
    const times = { start: soundSeconds(start), end: soundSeconds(end) };
    return element("li", {}, element("b", {}, symbol.trim() || "␣"), ` ${say("transcribe.symbol", times)}`);
  });
  byId("transcript-times").replaceChildren(...lines);
  const certainty = say("transcribe.score", { score: signed(score) });
  byId("transcript-facts").textContent = `${certainty} · ${duration(found.seconds)} · ${found.model}`;
  byId("transcript-part").hidden = false;
}

/**
 * Mount the desk and list the models that transcribe.
 * @type {(served: Model[], granted: Record<string, number>) => void}
 */
export function mountTranscribing(served, granted) {
  [models, limits] = [served, granted];
  const choice = element("select", { id: "transcriber", "aria-label": say("transcribe.model") });
  choice.append(...models.map(({ name }) => element("option", { value: name }, name)));
  choice.hidden = models.length < 2;
  const label = element("label", { for: "sound-file" }, say("transcribe.sound"));
  const file = element("input", { id: "sound-file", type: "file", accept: "audio/*,.wav,.flac", required: "" });
  const ready = element("button", { class: "plain" }, say("desks.transcribe"));
  const form = element("form", { class: "asking" }, choice, label, file, ready);
  const heard = element("audio", { id: "heard", controls: "", hidden: "", "aria-label": say("transcribe.heard") });
  const said = element("p", { id: "transcript", class: "answer", role: "status", dir: "auto" });
  const times = element("ul", { id: "transcript-times", class: "times" });
  const facts = element("p", { id: "transcript-facts", class: "foot" });
  const part = section("transcript", say("transcribe.title"), said, times, facts);
  part.hidden = true;
  const trouble = element("p", { id: "transcribe-trouble", class: "trouble", role: "alert", hidden: "" });
  const knowing = element("div", { id: "transcribe-knowing", class: "knowing" });
  const looking = element("div", { id: "transcribe-frames", class: "view", hidden: "" });
  byId("transcribe-desk").append(form, knowing, heard, trouble, part, looking);
  savable(part, "transcript", () => shown);
  choice.addEventListener("change", () => {
    remember({ transcriber: choice.value });
    followTranscribing();
  });
  file.addEventListener("change", transcribeAgain);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    transcribeAgain();
  });
}
