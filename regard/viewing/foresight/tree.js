// The beam as a tree. In which lane a hypothesis stands comes with it, so that no two links cross; here columns become
// as wide as their tokens, and links are drawn.

const [TOP, GAP, LANE] = [22, 30, 52]; // pixels: above the first lane, before a column, from lane to lane
const FATES = {
  won: ["best output", "the best output"],
  kept: ["other outputs", "finished, one of the best"],
  outdone: ["finished, outdone", "finished, but enough others scored better"],
  continued: ["went on", "went on"],
  dropped: ["dropped", "dropped, as others were more probable"],
  open: ["unfinished at the end", "unfinished when the search was over"],
};
const nodes = data.nodes;
const winning = new Set(data.outputs.length ? pathTo(data.outputs[0]) : []);
const lasting = new Set(data.outputs.flatMap(pathTo));

let show = "all"; // or "outputs": only what led to one
let boxes = []; // the elements of the hypotheses
let paths = []; // and of the links that lead to them

/** A hypothesis and all that it continues, the first token first. */
function pathTo(place) {
  const found = [];
  for (let at = place; at !== null; at = nodes[at].parent) found.unshift(at);
  return found;
}

const laneOf = (place) => data.lanes[show][place];
const isShown = (place) => laneOf(place) !== null;
const fateOf = (place) => (winning.has(place) ? "won" : nodes[place].fate);

function build() {
  boxes = nodes.map((node, place) => {
    const finished = node.score !== null;
    const number = signed(finished ? node.score : node.total);
    const token = element("span", { class: `token ${fateOf(place)}` }, word(node.token, "target"));
    const rank = node.rank ? [element("span", { class: "rank" }, String(node.rank))] : [];
    const kind = finished ? "node finished" : "node";
    const label = `${node.token}, step ${node.step}: ${node.text}`;
    const attributes = { type: "button", class: kind, tabindex: -1, "data-place": place, "aria-label": label };
    return element("button", attributes, token, element("span", { class: "number" }, number), ...rank);
  });
  paths = nodes.map((node, place) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const role = winning.has(place) ? "link won" : lasting.has(place) ? "link lasting" : "link";
    path.setAttribute("class", role);
    path.setAttribute("stroke-width", (1 + 3 * Math.exp(Math.min(node.log_probability, 0))).toFixed(2));
    return path;
  });
  // What leads to outputs lies on top of what does not.
  const order = nodes.map((_, place) => place).sort((one, other) => weight(one) - weight(other));
  byId("links").replaceChildren(...order.map((place) => paths[place]));
  byId("tree").append(...boxes);
  byId("tree").classList.toggle("mirrored", data.leftwards);
  boxes[0].tabIndex = 0;
}

const weight = (place) => winning.has(place) + lasting.has(place);

/** Columns as wide as their widest token, from the right where the target is read so. */
function layOut() {
  boxes.forEach((box, place) => {
    box.hidden = !isShown(place);
    box.style.width = "";
  });
  const widths = [];
  boxes.forEach((box, place) => {
    const column = nodes[place].step - 1;
    widths[column] = Math.max(widths[column] ?? 0, box.hidden ? 0 : Math.ceil(box.offsetWidth));
  });
  const ends = [];
  widths.forEach((width, column) => ends.push((ends[column - 1] ?? 0) + GAP + width));
  const whole = ends.at(-1) + GAP;
  const across = (x) => (data.leftwards ? whole - x : x);
  boxes.forEach((box, place) => {
    const column = nodes[place].step - 1;
    const left = Math.min(across(ends[column]), across(ends[column] - widths[column]));
    const top = TOP + LANE * laneOf(place);
    Object.assign(box.style, { left: `${left}px`, top: `${top}px`, width: `${widths[column]}px` });
  });
  drawLinks(ends, widths, across);
  showSteps(ends, widths, across);
  const lanes = data.lanes[show].reduce((most, lane) => Math.max(most, lane ?? 0), 0) + 1;
  Object.assign(byId("tree").style, { width: `${whole}px`, height: `${TOP + LANE * lanes}px` });
}

/** Curves that bend in the gap before a column, as wide as their token is probable. */
function drawLinks(ends, widths, across) {
  const middle = boxes[0].querySelector(".token").offsetHeight / 2;
  const height = (place) => TOP + LANE * (place === null ? 0 : laneOf(place)) + middle;
  nodes.forEach((node, place) => {
    paths[place].toggleAttribute("hidden", !isShown(place));
    if (!isShown(place)) return;
    const column = node.step - 1;
    const [from, to] = [ends[column - 1] ?? 4, ends[column] - widths[column]].map(across);
    const bend = (from + to) / 2;
    const [y1, y2] = [height(node.parent), height(place)];
    paths[place].setAttribute("d", `M${from},${y1} C${bend},${y1} ${bend},${y2} ${to},${y2}`);
  });
}

function showSteps(ends, widths, across) {
  byId("tree").querySelectorAll(".step").forEach((old) => old.remove());
  const steps = widths.map((width, column) => {
    const step = element("span", { class: "step", "aria-hidden": true }, String(column + 1));
    const left = Math.min(across(ends[column]), across(ends[column] - width));
    Object.assign(step.style, { left: `${left}px`, width: `${width}px` });
    return step;
  });
  byId("tree").prepend(...steps);
}

function showFrame() {
  for (const side of ["source", "target"]) {
    byId(side).textContent = data[side].text;
    byId(side).lang = data[side].language;
  }
  document.title = `${data.source.text} → ${data.target.text}`;
  const steps = nodes.reduce((most, { step }) => Math.max(most, step), 0);
  byId("caption").textContent = [
    `A beam of ${data.width}, ${steps} steps.`,
    "Under a token stands the sum of log-probabilities so far, under an end the score of the output.",
    "A link is as wide as its token is probable.",
  ].join(" ");
  const fates = Object.keys(FATES).filter((fate) => fate !== "continued" && nodes.some((node) => node.fate === fate));
  const sign = (fate) => element("span", { class: `token ${fate}`, "aria-hidden": true });
  byId("key").replaceChildren(...fates.map((fate) => element("li", {}, sign(fate), FATES[fate][0])));
  byId("outputs").replaceChildren(...data.outputs.map(outputLine));
}

function outputLine(place) {
  const { rank, score, text } = nodes[place];
  const value = element("span", { class: "score" }, signed(score));
  const parts = [element("b", {}, String(rank)), value, word(text, "target")];
  return element("li", {}, element("button", { type: "button", class: "output", "data-place": place }, ...parts));
}
