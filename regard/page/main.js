// The page of `regard serve`: a desk for each task that the models can perform, and what the desks share.

import { remember, wished } from "./parts/address.js";
import { answerAgain, followAnswering, mountAnswering } from "./desks/answer.js";
import { captionAgain, followCaptioning, mountCaptioning } from "./desks/caption.js";
import { button, byId, element, reachable, walkable } from "./parts/common.js";
import { drawAgain, followDrawing, mountDrawing } from "./desks/draw.js";
import { fillTexts } from "./parts/filling.js";
import { followGenerating, generateAgain, mountGenerating } from "./desks/generate.js";
import { followNeighbouring, mountNeighbouring, neighbourAgain } from "./desks/neighbours.js";
import { get, keepKey, Refusal } from "./parts/server.js";
import { followSpeaking, mountSpeaking, speakAgain } from "./desks/speak.js";
import { say } from "./parts/texts.js";
import { followTranscribing, mountTranscribing, transcribeAgain } from "./desks/transcribe.js";
import { followTranslating, mountTranslating, translateAll } from "./desks/translate.js";

/** @import { Model } from "./parts/server.js" */
/** @typedef {(models: Model[], limits: Record<string, number>) => void} Mount */
/** @typedef {{ holder: string, mount: Mount, follow: () => void, again: () => void }} Desk */

// Each task -> the element that holds its desk, and how to mount it, follow the address and repeat the request.
/** @type {Record<string, Desk>} */
const DESKS = {
  translate: {
    holder: "desk",
    mount: mountTranslating,
    follow: followTranslating,
    again: translateAll,
  },
  answer: {
    holder: "answer-desk",
    mount: mountAnswering,
    follow: followAnswering,
    again: answerAgain,
  },
  generate: {
    holder: "generate-desk",
    mount: mountGenerating,
    follow: followGenerating,
    again: generateAgain,
  },
  caption: {
    holder: "caption-desk",
    mount: mountCaptioning,
    follow: followCaptioning,
    again: captionAgain,
  },
  transcribe: {
    holder: "transcribe-desk",
    mount: mountTranscribing,
    follow: followTranscribing,
    again: transcribeAgain,
  },
  speak: {
    holder: "speak-desk",
    mount: mountSpeaking,
    follow: followSpeaking,
    again: speakAgain,
  },
  draw: {
    holder: "draw-desk",
    mount: mountDrawing,
    follow: followDrawing,
    again: drawAgain,
  },
  neighbours: {
    holder: "words-desk",
    mount: mountNeighbouring,
    follow: followNeighbouring,
    again: neighbourAgain,
  },
};

let open = ""; // the visible desk

/**
 * Show the desk that the address names, or the first.
 * @type {(verbs: string[]) => void}
 */
function openWished(verbs) {
  const { tab } = wished();
  open = verbs.includes(tab) ? tab : verbs[0];
  showOpen(verbs);
}

/** @type {(verbs: string[]) => void} */
function showOpen(verbs) {
  for (const verb of verbs) {
    byId(DESKS[verb].holder).hidden = verb !== open;
    byId(`${verb}-verb`).setAttribute("aria-selected", verb === open);
  }
  reachable(verbs.map((verb) => byId(`${verb}-verb`)), byId(`${open}-verb`));
}

/**
 * Make a tab for each task; with a single task there are no tabs.
 * @type {(verbs: string[]) => void}
 */
function mountVerbs(verbs) {
  /** @type {(event: any) => void} */
  const choose = ({ target }) => {
    if (!target.dataset.verb || target.dataset.verb === open) return;
    open = target.dataset.verb;
    remember({ tab: open === verbs[0] ? null : open });
    showOpen(verbs);
  };
  for (const verb of verbs) {
    const { holder } = DESKS[verb];
    const controls = { role: "tab", id: `${verb}-verb`, class: "tab", "aria-controls": holder, "data-verb": verb };
    byId("verbs").append(button(controls, say(`desks.${verb}`)));
    byId(holder).setAttribute("aria-labelledby", `${verb}-verb`);
  }
  byId("verbs").hidden = verbs.length < 2;
  walkable(byId("verbs"), ".tab");
  byId("verbs").addEventListener("click", choose);
  byId("verbs").addEventListener("focusin", choose);
}

/** @type {(served: { models: Model[], limits: Record<string, number>, needs_key: boolean }) => void} */
function openDesks({ models, limits, needs_key: needsKey }) {
  const verbs = Object.keys(DESKS).filter((verb) => models.some(({ can }) => can.includes(verb)));
  if (!verbs.length) {
    const addresses = [...new Set(models.flatMap(({ can }) => can))].map((verb) => `/v1/${verb}`);
    byId("trouble").textContent = say("desks.none", { addresses: addresses.join(", ") });
    byId("trouble").hidden = false;
    return;
  }
  const can = verbs.map((verb) => say(`desks.${verb}`).toLowerCase()).join(", ");
  const motto = say("desks.motto", { can });
  byId("motto").textContent = `${motto[0].toUpperCase()}${motto.slice(1)}.`;
  document.title = say("desks.page", { motto });
  byId("key-form").hidden = !needsKey;
  byId("key-form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    keepKey(byId("key-field").value);
    DESKS[open].again();
  });
  mountVerbs(verbs);
  openWished(verbs); // before mounting, because mounting may measure the available space
  for (const verb of verbs) DESKS[verb].mount(models.filter(({ can }) => can.includes(verb)), limits);
  const follow = () => verbs.forEach((verb) => DESKS[verb].follow());
  addEventListener("hashchange", () => {
    openWished(verbs);
    follow();
  });
  follow();
}

async function begin() {
  byId("trouble").hidden = true;
  try {
    openDesks(await get("v1/models"));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const again = element("button", { type: "button", class: "plain" }, say("trouble.again"));
    again.addEventListener("click", begin);
    byId("trouble").replaceChildren(error.message, " ", again);
    byId("trouble").hidden = false;
  }
}

fillTexts();
begin();
