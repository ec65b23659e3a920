// The next token: what the model gives, and what temperature, top-k and the others leave of it, as sliders move.

const SLIDERS = {
  temperature: ["temperature", "Below 1 is cautious, above 1 bold; 0 takes the best."],
  top_k: ["top-k", "Only this many most probable tokens."],
  top_p: ["top-p", "The fewest tokens whose probability reaches this."],
  min_p: ["min-p", "Only tokens at least this fraction as probable as the best."],
  typical: ["typical", "The fewest tokens reaching this whose surprise is nearest the entropy."],
};
const MOST_COUNTED = 100; // the top-k slider counts up to here; its last place is all tokens

const own = Float64Array.from(data.log_probabilities);
const ownShares = normalised(own).map(Math.exp);
const largest = Math.max(data.start.temperature ?? 0, 2);
const counted = Math.min(own.length, Math.max(MOST_COUNTED, data.start.top_k ?? 0)) + 1;
const RANGES = {
  temperature: [0, largest, 0.05],
  top_k: [1, counted, 1],
  top_p: [0.01, 1, 0.01],
  min_p: [0, 1, 0.01],
  typical: [0.01, 1, 0.01],
};

let options = { ...OFF };
let count = 0; // of tokens that are shown

/** What was asked for, as far as it can be. */
function settled(wish) {
  const found = {};
  for (const name of Object.keys(OFF)) {
    const value = Object.hasOwn(wish, name) && wish[name] !== "" ? Number(wish[name]) : NaN;
    const fits = value <= RANGES[name][1] && (value > 0 || (value === 0 && name === "temperature"));
    found[name] = fits ? (name === "top_k" ? Math.round(value) % counted : value) : OFF[name];
  }
  return found;
}

const changed = () => Object.fromEntries(Object.entries(options).filter(([name, value]) => value !== OFF[name]));

function change(wish, shown = count) {
  options = settled(wish);
  count = Math.min(Math.max(Math.round(Number(shown)) || data.shown, 1), data.tokens.length);
  const fragment = { ...changed(), ...(count === data.shown ? {} : { shown: count }) };
  history.replaceState(null, "", `#${new URLSearchParams(fragment)}`);
  draw();
}

function draw() {
  for (const name of Object.keys(OFF)) showSlider(name);
  const asked = JSON.stringify(changed());
  byId("examples").querySelectorAll("button").forEach((button) => {
    button.setAttribute("aria-pressed", button.dataset.options === asked);
  });
  [byId("shown").value, byId("shown-value").value] = [count, count];
  const values = distribution(own, options);
  const shares = values.map(Math.exp);
  showSummary(values);
  showTokens(shares);
}

function showSlider(name) {
  const slider = byId(name);
  slider.value = name === "top_k" && !options.top_k ? counted : options[name];
  const text = name === "top_k" ? options.top_k || "all" : Number(options[name].toFixed(3));
  slider.parentElement.querySelector("output").value = text;
  slider.setAttribute("aria-valuetext", text);
  slider.parentElement.classList.toggle("set", options[name] !== OFF[name]);
}

function showSummary(values) {
  const left = values.reduce((sum, value) => sum + (value > -Infinity), 0);
  const nats = (each) => `${Math.max(entropy(each), 0).toFixed(2)} nats`;
  const number = (value) => value.toLocaleString("en");
  const sentences = [`${number(left)} of ${number(own.length)} tokens may be drawn. `];
  sentences.push(`Entropy ${nats(values)}; the model's own is ${nats(normalised(own))}. `);
  if (data.taken !== null) {
    sentences.push("What the model's best output has here is ", word(data.tokens[data.taken], "target"), ".");
  }
  byId("summary").replaceChildren(...sentences);
}

function showTokens(shares) {
  const sum = (from) => from.slice(count).reduce((total, share) => total + share, 0);
  const lines = data.tokens.slice(0, count).map((token, place) => {
    return line(word(token, "target"), ownShares[place], shares[place], place === data.taken ? "taken" : "");
  });
  const rest = `${(own.length - count).toLocaleString("en")} others`;
  byId("tokens").tBodies[0].replaceChildren(...lines, line(rest, sum(ownShares), sum(shares), "others"));
}

/** One token, or all others: its name, what the model gives it, and what is drawn from. */
function line(name, before, after, kind) {
  const first = element("td", {}, bar(before, before, percent(before)));
  const isGone = after === 0 && before > 0;
  const drawn = bar(after, before, isGone ? "cut" : percent(after));
  drawn.prepend(element("u"));
  const last = element("td", { class: isGone ? "drawn gone" : "drawn" }, drawn);
  return element("tr", kind ? { class: kind } : {}, element("th", { scope: "row" }, name), first, last);
}

function bar(share, before, text) {
  const made = element("div", { class: "bar" }, element("i"), element("span", {}, text));
  made.style.setProperty("--share", share.toFixed(5));
  made.style.setProperty("--own-share", before.toFixed(5));
  return made;
}

function build() {
  byId("source").textContent = data.source.text;
  byId("source").lang = data.source.language;
  document.title = `${data.source.text} → ${data.target.text} …`;
  const pieces = data.before.map((piece) => element("span", { class: "piece" }, word(piece, "target")));
  byId("before").replaceChildren(...pieces, element("span", { class: "place" }, "?"));
  byId("sliders").replaceChildren(...Object.keys(SLIDERS).map(slider));
  byId("examples").replaceChildren(...[{}, ...data.examples].map(exampleButton));
  byId("shown").max = data.tokens.length;
}

function slider(name) {
  const [title, what] = SLIDERS[name];
  const [min, max, step] = RANGES[name];
  const input = element("input", { type: "range", id: name, min, max, step, "aria-describedby": `${name}-what` });
  const head = [element("label", { for: name }, title), element("output", { for: name })];
  const about = element("span", { class: "what", id: `${name}-what` }, what);
  return element("div", { class: "slider" }, ...head, input, about);
}

function exampleButton(example) {
  const names = Object.entries(example).map(([name, value]) => `${SLIDERS[name][0]} ${value}`);
  const attributes = { type: "button", "data-options": JSON.stringify(example) };
  return element("button", attributes, names.join(", ") || "as it is");
}

function begin() {
  build();
  document.querySelector("main").hidden = false;
  byId("sliders").addEventListener("input", ({ target }) => change({ ...options, [target.id]: target.value }));
  byId("sliders").addEventListener("submit", (event) => event.preventDefault());
  byId("examples").addEventListener("click", ({ target }) => {
    if (target.dataset.options) change(JSON.parse(target.dataset.options));
  });
  byId("shown").addEventListener("input", ({ target }) => change(options, target.value));
  addEventListener("hashchange", () => change(wished(), wished().shown));
  const wish = wished();
  change(Object.keys(wish).length ? wish : data.start, wish.shown);
}

begin();
