// Which attention is shown of one pair of texts: side, layer, head and mode, as the fragment of the address has them.

import { remember } from "./address.js";
import { byId, element, offer, word } from "./common.js";

const STEPS = 10_000; // weights come as whole ten-thousandths
const SIDES = {
  cross: ["target", "source", "Each word of the target, as it is written, looks at the words of the source."],
  encoder: ["source", "source", "Each word of the source looks at all words of the source."],
  decoder: ["target", "target", "Each word of the target, as it is read, looks at itself and the words before it."],
  copying: ["target", "source", "Each word of the target is written from the vocabulary, or copied from the source."],
};
const WITHIN = ["source", "source", "Each word looks at the words of the text."]; // of a model that is no translator
const JOININGS = { mean: "mean", max: "maximum" };

export let sight = null; // the texts, and all that was looked at between them
export let state = {};
let weights; // of the matrix that is shown, row after row
let redraw; // what draws it
let lacking; // what is told of a mode that is offered but not here yet

export const shown = () => sight.modes[state.mode][state.side];
export const block = () => shown().blocks[state.layer - 1];
export const weightAt = (row, column) => weights[row * shown().columns.length + column];

/** Who looks, who is looked at, and that in a sentence. */
export const lookingSides = () => SIDES[state.side] ?? WITHIN;

/** A word of one side inside a sentence of ours. */
export const wordOf = (text, side) => word(text, sight[side].language);

/** The nearest state that exists to what was asked for. */
function settled({ mode, side, layer, head }) {
  if (!Object.hasOwn(sight.modes, mode)) mode = Object.keys(sight.modes)[0];
  const sides = sight.modes[mode];
  if (!Object.hasOwn(sides, side)) side = Object.keys(sides)[0];
  const { blocks, usual } = sides[side];
  layer = blocks[layer - 1] ? Number(layer) : usual;
  if (!Object.hasOwn(JOININGS, head)) head = blocks[layer - 1].heads[head - 1] ? Number(head) : "mean";
  return { side, layer, head, mode };
}

/** Take what was seen, and show of it what is wished for. */
export function take(seen, wish) {
  sight = seen;
  state = settled(wish);
  draw();
}

export function changeAttention(wish) {
  const { mode } = wish;
  if (mode !== undefined && !Object.hasOwn(sight.modes, mode) && sight.offered?.includes(mode)) return lacking(mode);
  state = settled({ ...state, ...wish });
  remember(state);
  draw();
}

function draw() {
  weights = weightsOf(block(), state.head);
  showControls();
  showCaption();
  redraw();
}

/** The weights of one head, or of the mean or the maximum of all heads. */
export function weightsOf({ heads }, head) {
  if (!Object.hasOwn(JOININGS, head)) return Float32Array.from(heads[head - 1], (weight) => weight / STEPS);
  const joined = new Float32Array(heads[0].length);
  for (const each of heads) {
    each.forEach((weight, place) => {
      const share = weight / STEPS;
      joined[place] = head === "max" ? Math.max(joined[place], share) : joined[place] + share / heads.length;
    });
  }
  return joined;
}

/** What is shown, in words: only what there is more than one of is named. */
export function title() {
  const heads = block().heads.length;
  const joining = Object.hasOwn(JOININGS, state.head) && `${JOININGS[state.head]} of ${heads} heads`;
  const number = shown().blocks.length > 1 && `block ${state.layer}`;
  return [state.side, number, heads > 1 && (joining || `head ${state.head}`)].filter(Boolean).join(", ");
}

function showCaption() {
  const { entropy, where } = block();
  const chosen = Object.hasOwn(JOININGS, state.head) ? entropy : [entropy[state.head - 1]];
  const [low, high] = [Math.min(...chosen), Math.max(...chosen)].map((value) => value.toFixed(2));
  const spread = low === high ? `Entropy ${low} nats.` : `Entropy of its heads from ${low} to ${high} nats.`;
  const sentence = `${lookingSides()[2]} Shown: ${title()} (`;
  byId("caption").replaceChildren(sentence, element("code", {}, where), `). ${spread}`);
}

function showControls() {
  const numbers = (count) => Array.from({ length: count }, (_, place) => String(place + 1));
  const heads = block().heads.length;
  offer(byId("mode"), sight.offered ?? Object.keys(sight.modes), state.mode);
  offer(byId("side"), Object.keys(sight.modes[state.mode]), state.side);
  offer(byId("layer"), numbers(shown().blocks.length), state.layer);
  offer(byId("head"), heads > 1 ? [...Object.keys(JOININGS), ...numbers(heads)] : [], state.head);
}

/** The controls, and what there is to know of what they choose. */
export function mountControls(holder, drawing, asking) {
  [redraw, lacking] = [drawing, asking];
  const group = (id, legend) => element("fieldset", { id }, element("legend", {}, legend));
  const groups = [group("side", "Side"), group("layer", "Block"), group("head", "Heads"), group("mode", "Between")];
  const controls = element("form", { id: "controls", class: "controls", "aria-label": "What to show" }, ...groups);
  controls.addEventListener("change", ({ target }) => changeAttention({ [target.name]: target.value }));
  controls.addEventListener("submit", (event) => event.preventDefault());
  holder.append(controls, element("p", { id: "caption", class: "caption", role: "status" }));
}
