// Every part of a page can be saved: as a link to this view, as a PNG, as an SVG, or as its data.

import { button, element, reachable, walkable } from "./common.js";
import { brushOf } from "./raster.js";
import { snapshot } from "./snapshot.js";
import { say } from "./texts.js";

const SHARPNESS = 2; // pixels of a picture per pixel on the screen
const LARGEST = 16_000; // pixels; longest side of a picture
const KINDS = ["link", "png", "svg", "json"];

/**
 * Add the save buttons to a part of the page; `name` is the file name, or a function that returns it, `numbers` returns
 * the data, `link` the address of the view.
 * @param {HTMLElement} part
 * @param {string | (() => string)} name
 * @param {() => unknown} numbers
 */
export function savable(part, name, numbers, link = () => location.href) {
  const named = () => (typeof name === "function" ? name() : name);
  /** @type {Record<string, () => unknown>} */
  const makers = {
    link: () => copy(link()),
    png: async () => download(await painted(snapshot(part)), `${named()}.png`),
    svg: () => download(svgFile(snapshot(part)), `${named()}.svg`),
    json: () => saveJson(numbers(), named()),
  };
  const title = part.querySelector("h2, h3")?.textContent ?? named();
  const kinds = KINDS.filter((kind) => kind !== "link" || location.protocol !== "about:"); // frames have no address
  const made = kinds.map((kind) => {
    const label = say("saving.label", { title, does: say(`saving.${kind}_does`) });
    return button({ class: "save", "aria-label": label }, say(`saving.${kind}`));
  });
  const about = { role: "toolbar", "aria-label": say("saving.bar", { title }) };
  const bar = element("div", { class: "saving unsaved", ...about }, ...made);
  reachable(made, made[0]);
  walkable(bar, ".save");
  bar.addEventListener("click", async (/** @type {any} */ { target }) => {
    const at = made.indexOf(target);
    if (at < 0) return;
    await makers[kinds[at]]();
    tellDone(target, say(kinds[at] === "link" ? "saving.copied" : "saving.saved"));
  });
  part.append(bar);
  return bar;
}

/**
 * Show briefly, on the pressed button, that the action is done.
 * @param {HTMLElement} pressed
 * @param {string} done
 */
export function tellDone(pressed, done) {
  if (pressed.dataset.saying) return;
  const [text, label] = [pressed.textContent, pressed.getAttribute("aria-label") ?? pressed.textContent];
  /** @type {(seen: string | null, heard: string | null) => void} */
  const show = (seen, heard) => {
    pressed.textContent = seen;
    pressed.setAttribute("aria-label", heard ?? "");
  };
  pressed.dataset.saying = done;
  show(done, done);
  setTimeout(() => {
    delete pressed.dataset.saying;
    show(text, label);
  }, 1500);
}

/**
 * Copy a text to the clipboard; with the old method if the new one is not allowed.
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = element("textarea", { class: "aside", "aria-hidden": true });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/**
 * Save data under a file name.
 * @param {unknown} value
 * @param {string} name
 */
export function saveJson(value, name) {
  download(new Blob([JSON.stringify(value, null, 1), "\n"], { type: "application/json" }), `${name}.json`);
}

/** @param {SVGElement} svg */
const svgFile = (svg) => new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });

/**
 * An SVG as a PNG.
 * @param {SVGElement} svg
 * @returns {Promise<Blob>}
 */
async function painted(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const sides = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  const [width, height] = sides.map((side) => Math.round(side * Math.min(SHARPNESS, LARGEST / Math.max(...sides))));
  const canvas = element("canvas", { width, height });
  brushOf(canvas).drawImage(image, 0, 0, width, height);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(/** @type {Blob} */ (blob))));
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: `regard-${name}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
