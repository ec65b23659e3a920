// Speaking: a text, a speaker, a player for the sound, and below it the attention over time.

import { remember, wished } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { byId, element, section } from "../parts/common.js";
import { mountFrames, showFrames } from "../views/frames.js";
import { showKnowledge } from "../parts/knowing.js";
import { ask } from "../parts/server.js";
import { duration, say, soundSeconds } from "../parts/texts.js";

/** @import { Model } from "../parts/server.js" */

/** @type {Model[]} */
let models = [];

const hideSound = () => ["sound-part", "speak-frames"].forEach((part) => (byId(part).hidden = true));
const asking = oneAtATime("sound-part", "speak-trouble", hideSound);
/** @type {() => Model} */
const model = () => models.find(({ name }) => name === byId("voice").value) ?? models[0];

/** Show the state that the address describes. */
export function followSpeaking() {
  const { voice, spoken, speaker } = wished();
  if (models.some(({ name }) => name === voice)) byId("voice").value = voice;
  offerSpeakers();
  if (model().speakers.includes(speaker)) byId("speaker").value = speaker;
  byId("spoken").value = spoken ?? "";
  speakAgain();
}

/** List the speakers of the chosen model. */
function offerSpeakers() {
  /** @type {{ speakers: string[] }} */
  const { speakers } = model();
  byId("speaker").replaceChildren(...speakers.map((name) => element("option", { value: name }, name)));
  byId("speaker-label").hidden = speakers.length < 2;
  showKnowledge(byId("speak-knowing"), [model()], (text) => {
    byId("spoken").value = text;
    speakAgain();
  });
}

/** Ask for the sound of the text; an earlier request that is still pending is cancelled. */
export async function speakAgain() {
  const text = byId("spoken").value.trim();
  if (!text) {
    asking.forget();
    return hideSound();
  }
  const { name, can } = model();
  const speaker = byId("speaker").value;
  remember({ spoken: text, speaker });
  await asking.attempt(async (signal) => {
    const found = await ask("v1/speak", { model: name, text, speaker }, signal);
    if (signal.aborted) return;
    byId("speak-frames").hidden = true; // they belong to the previous sound
    showSound(found);
    if (!can.includes("look")) return;
    const { looks } = await ask("v1/look", { model: name, input: text, speaker }, signal);
    if (signal.aborted) return;
    mountFrames(byId("speak-frames"));
    byId("speak-frames").hidden = false;
    showFrames(looks, wished());
  });
}

/** @type {(found: any) => void} */
function showSound({ model: name, seconds, sounds: [sound] }) {
  const bytes = Uint8Array.from(atob(sound.wav), (character) => character.charCodeAt(0));
  const player = byId("player");
  URL.revokeObjectURL(player.src);
  player.src = URL.createObjectURL(new Blob([bytes], { type: "audio/wav" }));
  byId("sound-said").textContent = say("speak.said", { text: sound.text, speaker: sound.speaker });
  byId("sound-cut").hidden = sound.ended;
  const lasts = say("speak.lasts", { seconds: soundSeconds(sound.seconds) });
  byId("sound-facts").textContent = `${lasts} · ${duration(seconds)} · ${name}`;
  byId("sound-part").hidden = false;
}

/**
 * Mount the desk and list the models that speak.
 * @type {(served: Model[]) => void}
 */
export function mountSpeaking(served) {
  models = served;
  const choice = element("select", { id: "voice", "aria-label": say("speak.model") });
  choice.append(...models.map(({ name }) => element("option", { value: name }, name)));
  choice.hidden = models.length < 2;
  const typed = element("input", { id: "spoken", type: "text", autocomplete: "off", dir: "auto", required: "" });
  const speaker = element("select", { id: "speaker" });
  const who = element("label", { id: "speaker-label", class: "worded" }, say("speak.speaker"), speaker);
  const label = element("label", { for: "spoken" }, say("speak.text"));
  const ready = element("button", { class: "plain" }, say("desks.speak"));
  const form = element("form", { class: "asking" }, choice, label, typed, who, ready);
  const said = element("p", { id: "sound-said", class: "answer", role: "status" });
  const player = element("audio", { id: "player", controls: "", "aria-labelledby": "sound-said" });
  const cut = element("p", { id: "sound-cut", class: "foot", hidden: "" }, say("speak.cut"));
  const facts = element("p", { id: "sound-facts", class: "foot" });
  const part = section("sound", say("speak.title"), said, player, cut, facts);
  part.hidden = true;
  const trouble = element("p", { id: "speak-trouble", class: "trouble", role: "alert", hidden: "" });
  const looking = element("div", { id: "speak-frames", class: "view", hidden: "" });
  byId("speak-desk").append(form, element("div", { id: "speak-knowing", class: "knowing" }), trouble, part, looking);
  choice.addEventListener("change", () => {
    remember({ voice: choice.value, speaker: null });
    offerSpeakers();
    speakAgain();
  });
  speaker.addEventListener("change", speakAgain);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    speakAgain();
  });
}
