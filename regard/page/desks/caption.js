// Captioning: a picture that the user selects, drops or pastes, its caption, and the attention of each word.

import { remember, wished } from "../parts/address.js";
import { oneAtATime } from "../parts/asking.js";
import { byId, element, reachable, section, signed, walkable } from "../parts/common.js";
import { encoded } from "../parts/encoding.js";
import { showKnowledge } from "../parts/knowing.js";
import { mountOverlay, pointAtWord, showOverlay } from "../views/overlay.js";
import { brushOf } from "../parts/raster.js";
import { savable } from "../parts/saving.js";
import { ask } from "../parts/server.js";
import { mountStrip, pointAtStripWord, showStrip } from "../views/strip.js";
import { duration, say } from "../parts/texts.js";

/** @import { Wish } from "../parts/address.js" */
/** @import { Model } from "../parts/server.js" */
/** @typedef {(looks: any, wish: Wish) => void} Show */
/** @typedef {{ mount: (holder: HTMLElement) => void, show: Show, point: (place: number | null) => void }} View */

const LARGEST_SIDE = 640; // pixels; larger pictures are scaled down before they are sent
// The views of attention in a picture and in a video: how to mount one, show data in it, and highlight a word.
/** @type {Record<string, View>} */
const VIEWS = {
  overlay: { mount: mountOverlay, show: showOverlay, point: pointAtWord },
  strip: { mount: mountStrip, show: showStrip, point: pointAtStripWord },
};

/** @type {Model[]} */
let models = [];
/** @type {Record<string, number>} */
let limits = {};
/** @type {File | null} */
let picture = null; // the file to be captioned
/** @type {any} */
let shown = null; // the displayed caption
let view = VIEWS.overlay; // of the attention of its words

const asking = oneAtATime("caption-part", "caption-trouble", () => {
  for (const part of ["caption-part", "caption-looks"]) byId(part).hidden = true;
});
/** @type {() => Model} */
const model = () => models.find(({ name }) => name === byId("captioner").value) ?? models[0];

/** Show the state that the address describes. */
export function followCaptioning() {
  const { captioner } = wished();
  if (models.some(({ name }) => name === captioner)) byId("captioner").value = captioner;
  const isOfVideos = model().reads === "video";
  byId("picture-label").textContent = say(isOfVideos ? "caption.video" : "caption.picture");
  byId("picture-hint").textContent = say(isOfVideos ? "caption.drop_video" : "caption.drop");
  showKnowledge(byId("caption-knowing"), [model()], () => {});
  captionAgain();
}

/**
 * Use a file as the picture to be captioned.
 * @type {(file: File | null | undefined) => void}
 */
function take(file) {
  if (!file) return;
  picture = file;
  const preview = byId("caption-preview");
  URL.revokeObjectURL(preview.src);
  preview.src = URL.createObjectURL(file);
  preview.hidden = false;
  captionAgain();
}

/**
 * A picture in the server's format; one with too many bytes or pixels is scaled down first, unless it may be animated.
 * @type {(file: File) => Promise<Record<string, string>>}
 */
async function sendable(file) {
  const small = file.type !== "image/gif" ? await shrink(file) : file;
  return { picture: await encoded(small, limits.picture, "answer.too_large") };
}

/** @type {(file: File) => Promise<Blob>} */
async function shrink(file) {
  const whole = await createImageBitmap(file).catch(() => null);
  if (!whole) return file; // the server reports what is wrong with it
  if (file.size <= limits.picture && whole.width * whole.height <= limits.pixels) return file;
  const share = Math.min(1, LARGEST_SIDE / Math.max(whole.width, whole.height));
  const canvas = element("canvas", { width: Math.ceil(whole.width * share), height: Math.ceil(whole.height * share) });
  brushOf(canvas).drawImage(whole, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob((blob) => done(/** @type {Blob} */ (blob)), "image/jpeg", 0.92));
}

/** Ask for a caption of the picture; an earlier request that is still pending is cancelled. */
export async function captionAgain() {
  const chosen = picture;
  if (!chosen) return;
  const { name, can } = model();
  await asking.attempt(async (signal) => {
    const sent = await sendable(chosen);
    const found = await ask("v1/caption", { model: name, pictures: [sent] }, signal);
    if (signal.aborted) return;
    byId("caption-looks").hidden = true; // they belong to the previous caption
    showCaption(found);
    if (!can.includes("look")) return;
    const sight = await ask("v1/look", { model: name, input: sent }, signal);
    if (signal.aborted) return;
    view = VIEWS[sight.view];
    byId("caption-looks").replaceChildren();
    view.mount(byId("caption-looks"));
    byId("caption-looks").hidden = false;
    view.show(sight.looks, wished());
  });
}

/** @type {(found: any) => void} */
function showCaption(found) {
  const [{ text, score, attention }] = found.captions;
  shown = found;
  /** @type {string[]} */
  const words = text.split(" ").filter(Boolean);
  const linked = words.map((word, place) => {
    const own = attention ? { class: "written", tabindex: -1, "data-word": place } : {};
    return element("span", own, word);
  });
  const parts = linked.flatMap((word, place) => (place ? [" ", word] : [word]));
  byId("caption-text").replaceChildren(...(words.length ? parts : [say("transcribe.nothing")]));
  if (attention) reachable(linked, linked[0]);
  const certainty = say("transcribe.score", { score: signed(score) });
  byId("caption-facts").textContent = `${certainty} · ${duration(found.seconds)} · ${found.model}`;
  byId("caption-part").hidden = false;
}

/**
 * Mount the desk and list the models that caption pictures.
 * @type {(served: Model[], granted: Record<string, number>) => void}
 */
export function mountCaptioning(served, granted) {
  [models, limits] = [served, granted];
  const choice = element("select", { id: "captioner", "aria-label": say("caption.model") });
  choice.append(...models.map(({ name }) => element("option", { value: name }, name)));
  choice.hidden = models.length < 2;
  const label = element("label", { id: "picture-label", for: "picture-file" });
  const file = element("input", { id: "picture-file", type: "file", accept: "image/*" });
  const hint = element("p", { id: "picture-hint", class: "hint" });
  const form = element("form", { class: "asking" }, choice, label, file);
  const preview = element("img", { id: "caption-preview", class: "preview", alt: say("caption.preview"), hidden: "" });
  const text = element("p", { id: "caption-text", class: "answer", role: "status", dir: "auto" });
  const part = section("caption", say("caption.title"), text, element("p", { id: "caption-facts", class: "foot" }));
  part.hidden = true;
  const trouble = element("p", { id: "caption-trouble", class: "trouble", role: "alert", hidden: "" });
  const knowing = element("div", { id: "caption-knowing", class: "knowing" });
  const looks = element("div", { id: "caption-looks", class: "view", hidden: "" });
  const desk = byId("caption-desk");
  desk.append(form, hint, knowing, preview, trouble, part, looks);
  savable(part, "caption", () => shown);
  choice.addEventListener("change", () => {
    remember({ captioner: choice.value });
    followCaptioning();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  preview.addEventListener("error", () => (preview.hidden = true)); // not a picture; the server says so too
  file.addEventListener("change", () => take(file.files?.[0]));
  listenForFiles(desk);
  listenToCaption(text);
}

/**
 * Accept pictures that are dropped on the desk, or pasted while it is open.
 * @type {(desk: HTMLElement) => void}
 */
function listenForFiles(desk) {
  desk.addEventListener("dragover", (event) => {
    event.preventDefault();
    desk.classList.add("dropping");
  });
  desk.addEventListener("dragleave", () => desk.classList.remove("dropping"));
  desk.addEventListener("drop", (event) => {
    event.preventDefault();
    desk.classList.remove("dropping");
    take(event.dataTransfer?.files[0]);
  });
  addEventListener("paste", ({ clipboardData }) => {
    if (!desk.hidden) take([...(clipboardData?.files ?? [])].find(({ type }) => type.startsWith("image/")));
  });
}

/**
 * Show the attention of a word of the caption while the pointer is over it or it has the keyboard focus.
 * @type {(text: HTMLElement) => void}
 */
function listenToCaption(text) {
  /** @type {(target: any) => number | null} */
  const placeOf = (target) => {
    const found = target?.closest?.("[data-word]");
    return found ? Number(found.dataset.word) : null;
  };
  walkable(text, "[data-word]");
  for (const event of ["pointerover", "focusin", "click"]) {
    text.addEventListener(event, (/** @type {any} */ { target }) => view.point(placeOf(target)));
  }
  for (const event of ["pointerleave", "focusout"]) text.addEventListener(event, () => view.point(null));
}
