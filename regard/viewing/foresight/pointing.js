// Pointing at a hypothesis, by pointer, by keyboard or by the fragment of the address, shows the way to it and its text.

let active = null; // the hypothesis that is pointed at
let pinned = false; // it stays when the pointer leaves

/** Point at a hypothesis, or at none: the way to it, its whole text, and what became of it. */
function point(place) {
  active = place;
  const on = new Set(place === null ? [] : pathTo(place));
  byId("tree").classList.toggle("pointing", place !== null);
  boxes.forEach((box, each) => {
    box.classList.toggle("on", on.has(each));
    box.classList.toggle("active", each === place);
    box.setAttribute("aria-pressed", each === place && pinned);
    paths[each].classList.toggle("on", on.has(each));
  });
  for (const output of byId("outputs").querySelectorAll(".output")) {
    output.classList.toggle("active", Number(output.dataset.place) === place);
  }
  byId("readout").replaceChildren(...(place === null ? [hint()] : told(place)));
}

function hint() {
  const how = "Point at a token, or reach it with the arrow keys, to read all that was written up to it.";
  return element("p", {}, `${how} A click or Enter keeps it.`);
}

/** Two sentences about a hypothesis: its text, and its numbers and fate. */
function told(place) {
  const { token, text, step, log_probability, total, score, rank, fate } = nodes[place];
  const whole = element("p", { class: "whole" }, word(text || "∅", "target"));
  const result = score === null ? "" : `, score ${signed(score)}`;
  const output = rank ? ` (output ${rank} of ${data.outputs.length})` : "";
  const chance = `${percent(Math.exp(log_probability))} (log-probability ${signed(log_probability)})`;
  const numbers = ` ${chance}, sum ${signed(total)}${result}. `;
  const facts = [`Step ${step}: `, element("b", {}, word(token, "target")), numbers];
  const became = FATES[fate][1];
  const sentence = `${became[0].toUpperCase()}${became.slice(1)}${output}.`;
  return [whole, element("p", { class: "facts" }, ...facts, sentence)];
}

/** Change what is shown and what is kept, and say so in the address. */
function change(wish) {
  if (["all", "outputs"].includes(wish.show)) show = wish.show;
  const place = Object.hasOwn(wish, "node") && wish.node !== "" ? Number(wish.node) : active;
  const there = Number.isInteger(place) && place !== null && place in nodes && isShown(place);
  pinned = there && (pinned || Object.hasOwn(wish, "node"));
  document.querySelectorAll("input[name=show]").forEach((input) => (input.checked = input.value === show));
  layOut();
  point(there ? place : null);
  if (there) reach(place);
  remember();
}

function remember() {
  const kept = { ...(show === "all" ? {} : { show }), ...(pinned ? { node: active } : {}) };
  history.replaceState(null, "", `#${new URLSearchParams(kept)}`);
}

/** Make a hypothesis the one that Tab leads to, and bring it into view. */
function reach(place) {
  boxes.forEach((box, each) => (box.tabIndex = each === place ? 0 : -1));
  boxes[place].scrollIntoView({ block: "nearest", inline: "nearest" });
}

const placeOf = (target) => {
  const found = target?.closest?.("[data-place]");
  return found ? Number(found.dataset.place) : null;
};

/** Where a key leads from a hypothesis: to what it continues, along its branch, or up and down within its step. */
function stepFrom(place, key) {
  const { parent, step } = nodes[place];
  const [back, on] = data.leftwards ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];
  const among = nodes.map((_, each) => each).filter(isShown).sort((one, other) => laneOf(one) - laneOf(other));
  const level = among.filter((each) => nodes[each].step === step);
  const children = among.filter((each) => nodes[each].parent === place);
  const moves = {
    [back]: parent,
    [on]: children[0],
    ArrowUp: level[level.indexOf(place) - 1],
    ArrowDown: level[level.indexOf(place) + 1],
    Home: pathTo(place)[0],
    End: data.outputs[0],
  };
  return Object.hasOwn(moves, key) ? moves[key] ?? place : null;
}

/** Pointing, clicking and walking work the same in the tree and among the outputs. */
function listen(holder) {
  holder.addEventListener("pointerover", ({ target, pointerType }) => {
    if (!pinned && pointerType !== "touch") point(placeOf(target) ?? placeOf(document.activeElement));
  });
  holder.addEventListener("pointerleave", () => pinned || point(placeOf(document.activeElement)));
  holder.addEventListener("focusin", ({ target }) => pinned || point(placeOf(target)));
  holder.addEventListener("focusout", () => pinned || point(null));
  holder.addEventListener("click", ({ target }) => {
    const place = placeOf(target);
    if (place === null) return;
    pinned = !(pinned && active === place);
    point(place);
    reach(place);
    remember();
  });
  holder.addEventListener("keydown", (event) => {
    const from = placeOf(event.target);
    if (from === null) return;
    const walking = holder.id === "tree" ? stepFrom(from, event.key) : null;
    const to = event.key === "Escape" ? from : walking;
    if (to === null) return;
    event.preventDefault();
    pinned = false;
    if (walking !== null) {
      reach(to);
      boxes[to].focus({ preventScroll: true });
    }
    point(to);
    remember();
  });
}

function begin() {
  showFrame();
  document.querySelector("main").hidden = false;
  build();
  listen(byId("tree"));
  listen(byId("outputs"));
  byId("controls").addEventListener("change", ({ target }) => change({ show: target.value }));
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => change(wished()));
  change(wished());
  if (data.leftwards && active === null) byId("field").scrollLeft = byId("field").scrollWidth;
}

begin();
