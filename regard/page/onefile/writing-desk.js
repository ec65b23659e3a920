// The desk of a language model in one file: a prompt, what may come next, how the model goes on, and what it looks at.

import { remember, wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { showKnowledge } from "../parts/knowing.js";
import { say } from "../parts/texts.js";
import {
  drawingWanted, followSearch, fullnessWanted, searchControls, searchWanted,
} from "../desks/generate/searching.js";
import { goOn, makeWriter, readPrompt, stopWriter } from "../desks/generate/writer.js";
import { layOutAttention, mountAttention, showAttention } from "../views/attention.js";
import { mountNext, showNext } from "../views/next.js";
import { mountLooking, openTabOf, showOutput } from "./looking.js";
import { Untranslatable } from "./refusing.js";

/** @import { View } from "./looking.js" */

const QUIET = 200; // milliseconds without a key press before the prompt is read
const SEARCHES_HERE = ["draw", "greedy"];
/** @type {Record<string, View>} */
const SIGHTS = {
  attention: { mount: mountAttention, show: showAttention, layOut: layOutAttention },
  next: { mount: mountNext, show: showNext },
};

/** @type {any} */
let writer;
/** @type {{ before: string, after: string }[]} */
let added = []; // additions to the prompt that can be undone
/** @type {ReturnType<typeof setTimeout> | undefined} */
let keying;

/** @type {() => string} */
const promptText = () => byId("prompt").value;

/** Read the prompt, and show what the model looks at. */
async function readAgain() {
  clearTimeout(keying);
  const prompt = promptText();
  remember({ prompt: prompt || null });
  showButtons();
  await readPrompt(writer, prompt, { ...drawingWanted(), ...fullnessWanted(writer.model) });
  byId("why").hidden = !writer.read;
  if (writer.read) showOutput(writer.read.explain);
}

/** Let the model continue the prompt; if it has not read it yet, it reads it first. */
async function continuePrompt() {
  const prompt = promptText();
  if (writer.prompt !== prompt) await readAgain();
  if (writer.prompt === prompt) await goOn(writer, prompt, { ...searchWanted(), ...fullnessWanted(writer.model) });
}

/** @type {(from: any, text: string, called: string) => void} */
function takeText(from, text, called) {
  if (from !== promptText()) return;
  added.push({ before: promptText(), after: text });
  byId("prompt").value = text;
  byId("prompt-told").textContent = say("prompt.added", { text: called });
  readAgain();
}

function undoText() {
  const last = added[added.length - 1];
  const wasTyped = promptText() !== last.after;
  byId("prompt").value = wasTyped ? last.after : last.before;
  if (!wasTyped) added.pop();
  byId("prompt-told").textContent = say("prompt.undone");
  readAgain();
}

function showButtons() {
  byId("undo").disabled = !added.length;
  byId("stop-writing").disabled = !writer.isWriting;
}

/**
 * The model of the page as a panel reaches it.
 * @type {(writing: any) => import("../desks/generate/writer.js").Wire}
 */
function wireOf(writing) {
  /** @type {(work: () => Promise<any>) => Promise<any>} */
  const inWords = async (work) => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Untranslatable) error.message = say(error.reason, error.values);
      throw error;
    }
  };
  return {
    read: ({ prompt, shown, ...options }) => inWords(() => writing.read(prompt, shown, options)),
    write: ({ prompt, ...search }, signal, { token, done }) => {
      return inWords(async () => {
        const began = performance.now();
        const text = await writing.write(prompt, search, signal, token);
        done({ texts: [text], seconds: (performance.now() - began) / 1000 });
      });
    },
    isRefusal: (error) => error instanceof Untranslatable,
  };
}

/**
 * Mount the desk, and read the prompt that the address names.
 * @type {(model: any, writing: any) => void}
 */
export function mountWritingDesk(model, writing) {
  const heard = { chosen: takeText, changed: showButtons, wanted: continuePrompt };
  writer = makeWriter(model, heard, wireOf(writing));
  byId("writers").append(writer.root);
  byId("search-place").append(searchControls({}, true, readAgain, SEARCHES_HERE));
  mountLooking(SIGHTS);
  showKnowledge(byId("knowing"), [model], (text) => takeText(promptText(), text, text));
  byId("stop-writing").addEventListener("click", () => stopWriter(writer));
  byId("undo").addEventListener("click", undoText);
  byId("prompting").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    continuePrompt();
  });
  byId("prompt").addEventListener("input", () => {
    clearTimeout(keying);
    keying = setTimeout(readAgain, QUIET);
  });
  byId("prompt").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    continuePrompt();
  });
  const follow = () => {
    const wish = wished();
    followSearch(wish);
    openTabOf(wish.view);
    byId("prompt").value = wish.prompt ?? model.examples[0] ?? "";
    readAgain();
  };
  addEventListener("hashchange", follow);
  follow();
}
