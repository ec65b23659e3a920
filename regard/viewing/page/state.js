// One page shows one pair of texts. The scripts are joined to one module: common.js has what all pages use, this one says
// what is shown, the next three draw it, and page.js brings them together. Words become text nodes, never markup.

const STEPS = 10_000; // weights come as whole ten-thousandths
const SIDES = {
  cross: ["target", "source", "Each word of the target, as it is written, looks at the words of the source."],
  encoder: ["source", "source", "Each word of the source looks at all words of the source."],
  decoder: ["target", "target", "Each word of the target, as it is read, looks at itself and the words before it."],
};
const JOININGS = { mean: "mean", max: "maximum" };

// What is shown: side, layer, head and mode, as they stand in the fragment of the address.

let state = settled({ ...data.start, ...wished() });
let weights; // of the matrix that is shown, row after row

const shown = () => data.modes[state.mode][state.side];
const block = () => shown().blocks[state.layer - 1];
const weightAt = (row, column) => weights[row * shown().columns.length + column];

/** The nearest state that exists to what was asked for. */
function settled({ mode, side, layer, head }) {
  if (!Object.hasOwn(data.modes, mode)) mode = Object.keys(data.modes)[0];
  const sides = data.modes[mode];
  if (!Object.hasOwn(sides, side)) side = Object.keys(sides)[0];
  const { blocks, usual } = sides[side];
  layer = blocks[layer - 1] ? Number(layer) : usual;
  if (!Object.hasOwn(JOININGS, head)) head = blocks[layer - 1].heads[head - 1] ? Number(head) : "mean";
  return { side, layer, head, mode };
}

function change(wish) {
  state = settled({ ...state, ...wish });
  history.replaceState(null, "", `#${new URLSearchParams(state)}`);
  show();
}

/** The weights of one head, or of the mean or the maximum of all heads. */
function weightsOf({ heads }, head) {
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
function title() {
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
  const sentence = `${SIDES[state.side][2]} Shown: ${title()} (`;
  byId("caption").replaceChildren(sentence, element("code", {}, where), `). ${spread}`);
}

// The controls: groups of radio buttons, made anew only when there is something else to choose from.

function showControls() {
  const numbers = (count) => Array.from({ length: count }, (_, place) => String(place + 1));
  const heads = block().heads.length;
  offer("mode", Object.keys(data.modes));
  offer("side", Object.keys(data.modes[state.mode]));
  offer("layer", numbers(shown().blocks.length));
  offer("head", heads > 1 ? [...Object.keys(JOININGS), ...numbers(heads)] : []);
}

function offer(name, options) {
  const group = byId(name);
  group.hidden = options.length < 2;
  if (group.dataset.options !== String(options)) {
    group.dataset.options = String(options);
    group.querySelectorAll("label").forEach((label) => label.remove());
    for (const value of options) {
      const button = element("input", { type: "radio", name, value });
      group.append(element("label", {}, button, element("span", {}, value)));
    }
  }
  group.querySelectorAll("input").forEach((button) => (button.checked = button.value === String(state[name])));
}

function listenToControls() {
  byId("controls").addEventListener("change", ({ target }) => change({ [target.name]: target.value }));
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => change(wished()));
}
