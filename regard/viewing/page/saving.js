// Every part of a page can be kept: as a link to just this view, as a picture, as a drawing, as numbers.

import { button, element, reachable, walkable } from "./common.js";
import { snapshot } from "./snapshot.js";

const SHARPNESS = 2; // pixels of a picture for one on the screen
const LARGEST = 16_000; // pixels of a side of a picture
const KINDS = {
  Link: "copy a link to what is shown",
  PNG: "save as a picture",
  SVG: "save as a drawing",
  JSON: "save the numbers",
};

/** Give a part of the page its buttons; `numbers` gives what is behind it, `link` the address that leads to it. */
export function savable(part, name, numbers, link = () => location.href) {
  const makers = {
    Link: () => copy(link()),
    PNG: async () => download(await painted(snapshot(part)), `${name}.png`),
    SVG: () => download(svgFile(snapshot(part)), `${name}.svg`),
    JSON: () => download(jsonFile(numbers()), `${name}.json`),
  };
  const title = part.querySelector("h2, h3")?.textContent ?? name;
  const kinds = Object.keys(KINDS);
  const made = kinds.map((kind) => button({ class: "save", "aria-label": `${title}: ${KINDS[kind]}` }, kind));
  const bar = element("div", { class: "saving unsaved", role: "toolbar", "aria-label": `Keep: ${title}` }, ...made);
  reachable(made, made[0]);
  walkable(bar, ".save");
  bar.addEventListener("click", async ({ target }) => {
    const at = made.indexOf(target);
    if (at < 0) return;
    await makers[kinds[at]]();
    tellDone(target, kinds[at] === "Link" ? "Copied" : "Saved");
  });
  part.append(bar);
  return bar;
}

/** Say for a moment, on the button that was pressed, that it is done. */
export function tellDone(pressed, done) {
  if (pressed.dataset.saying) return;
  const [text, label] = [pressed.textContent, pressed.getAttribute("aria-label") ?? pressed.textContent];
  const say = (seen, heard) => {
    pressed.textContent = seen;
    pressed.setAttribute("aria-label", heard);
  };
  pressed.dataset.saying = done;
  say(done, done);
  setTimeout(() => {
    delete pressed.dataset.saying;
    say(text, label);
  }, 1500);
}

/** Put a text where one can paste it from; the old way where the new one is not allowed. */
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

const jsonFile = (value) => new Blob([JSON.stringify(value, null, 1), "\n"], { type: "application/json" });

const svgFile = (svg) => new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });

/** A drawing as a picture of pixels. */
async function painted(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const sides = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  const [width, height] = sides.map((side) => Math.round(side * Math.min(SHARPNESS, LARGEST / Math.max(...sides))));
  const canvas = element("canvas", { width, height });
  canvas.getContext("2d").drawImage(image, 0, 0, width, height);
  return new Promise((resolve) => canvas.toBlob(resolve));
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: `regard-${name}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
