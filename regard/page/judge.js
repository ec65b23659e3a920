// The page of `regard judge`: two outputs side by side, blind, and a vote for one of them or for neither.

import { byId, element } from "./parts/common.js";
import { fillTexts } from "./parts/filling.js";
import { ask, get, getFile, Refusal } from "./parts/server.js";
import { say } from "./parts/texts.js";

/** @typedef {{ kind: "text" | "picture" | "sound", text: string }} Shown */
/**
 * What the server shows next; `at` is null once everything is judged.
 * @typedef {{ question: "better" | "person", total: number, voted: number, at: number | null, source?: Shown | null,
 *   outputs?: Shown[], choice?: string | null }} State
 */

const KEPT_NAME = "regard-judge";
const KEYS = ["1", "2", "="];
const LABELS = /** @type {Record<string, string>} */ ({ 1: "first", 2: "second", "=": "tie" });

/** @type {State | null} */
let state = null;
let judge = "";
let isBusy = false;
/** @type {string[]} */
let played = []; // addresses of the sounds on the page
/** @type {number[]} */
const seen = []; // places of the items that were voted on since the page was loaded

/** @param {Record<string, string | number>} [values] */
const query = (values = {}) => {
  const pairs = Object.entries(values).map(([name, value]) => [name, String(value)]);
  return new URLSearchParams([["judge", judge], ...pairs]).toString();
};

/** @type {(sentence: string) => void} */
function tell(sentence) {
  byId("trouble").textContent = sentence;
  byId("trouble").hidden = !sentence;
}

/**
 * Do some work, unless other work is under way; a refusal is shown.
 * @param {() => Promise<void>} work
 */
async function alone(work) {
  if (isBusy) return;
  isBusy = true;
  try {
    await work();
    tell("");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    tell(error.message);
  } finally {
    isBusy = false;
  }
}

/**
 * Fill the place of a source or an output.
 * @param {HTMLElement} place
 * @param {Shown} shown
 * @param {string} part
 */
async function fillPlace(place, shown, part) {
  const address = `shown/${state?.at}/${part}?${query()}`;
  if (shown.kind === "text") {
    place.replaceChildren(element("p", { class: "text", dir: "auto" }, shown.text || say("judge.empty")));
  } else if (shown.kind === "picture") {
    place.replaceChildren(element("img", { src: address, alt: say(`judge.picture_${LABELS[part] ?? "source"}`) }));
  } else {
    const sound = URL.createObjectURL(await getFile(address));
    played.push(sound);
    place.replaceChildren(element("audio", { controls: true, src: sound }));
  }
}

/** @param {State} next */
async function show(next) {
  state = next;
  played.forEach((sound) => URL.revokeObjectURL(sound));
  played = [];
  byId("entry").hidden = true;
  byId("judging").hidden = next.at === null;
  byId("finished").hidden = next.at !== null;
  byId("again").hidden = byId("back").hidden = !seen.length;
  if (next.at === null) return;
  byId("done").max = next.total;
  byId("done").value = next.voted;
  byId("count").textContent = say("judge.count", { voted: next.voted, total: next.total });
  byId("question").textContent = say(`judge.${next.question}`);
  byId("source-part").hidden = !next.source;
  for (const key of KEYS) {
    const choice = document.querySelector(`[data-choice="${key}"]`);
    choice?.setAttribute("aria-pressed", String(next.choice === key));
    choice?.querySelector("span")?.replaceChildren(say(`judge.${next.question}_${LABELS[key]}`));
  }
  if (next.source) await fillPlace(byId("source"), next.source, "source");
  for (const [place, shown] of (next.outputs ?? []).entries()) {
    await fillPlace(byId(`output-${place + 1}`), shown, String(place + 1));
  }
  byId("question").focus({ preventScroll: true });
}

/** @param {string} choice */
const vote = (choice) =>
  alone(async () => {
    if (!state || state.at === null) return;
    const { at } = state;
    const next = await ask("vote", { judge, at, choice }, new AbortController().signal);
    if (seen.at(-1) !== at) seen.push(at);
    await show(next);
  });

/** Show the item that was voted on before this one; another vote on it replaces the first. */
const goBack = () =>
  alone(async () => {
    const at = seen.pop();
    if (at !== undefined) await show(await get(`item?${query({ at })}`));
  });

/** @param {string} name */
const enter = (name) =>
  alone(async () => {
    judge = name;
    const next = await get(`item?${query()}`);
    try {
      sessionStorage.setItem(KEPT_NAME, name);
    } catch {
      // Without storage, a page that is reloaded asks for the name again.
    }
    await show(next);
  });

/** The name that was entered earlier in this tab. */
function keptName() {
  try {
    return sessionStorage.getItem(KEPT_NAME) ?? "";
  } catch {
    return "";
  }
}

/** @param {KeyboardEvent} event */
function press(event) {
  const isTyping = event.target instanceof HTMLInputElement;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat || byId("judging").hidden) return;
  if (KEYS.includes(event.key)) vote(event.key);
}

function begin() {
  fillTexts();
  document.title = say("judge.title");
  byId("entry").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    enter(byId("judge").value);
  });
  document.querySelectorAll("[data-choice]").forEach((choice) => {
    choice.addEventListener("click", () => vote(/** @type {HTMLElement} */ (choice).dataset.choice ?? ""));
  });
  byId("back").addEventListener("click", goBack);
  byId("again").addEventListener("click", goBack);
  document.addEventListener("keydown", press);
  const name = keptName();
  byId("judge").value = name;
  byId("entry").hidden = false;
  if (name) enter(name);
  else byId("judge").focus();
}

begin();
