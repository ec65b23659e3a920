// All of it together.

function show() {
  weights = weightsOf(block(), state.head);
  showControls();
  showCaption();
  showLines();
  showMatrix();
  showSheet();
}

function layOut() {
  layOutLines();
  layOutMatrix();
  layOutSheet();
}

function begin() {
  for (const side of ["source", "target"]) {
    byId(side).textContent = data[side].text;
    byId(side).lang = data[side].language;
  }
  document.title = `${data.source.text} → ${data.target.text}`;
  document.querySelector("main").hidden = false;
  listenToControls();
  listenToLines();
  listenToMatrix();
  listenToSheet();
  show();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    colours = ramp();
    show();
  });
  let width = document.body.clientWidth;
  new ResizeObserver(() => {
    if (width === document.body.clientWidth) return; // the height changes with what is shown
    width = document.body.clientWidth;
    layOut();
  }).observe(document.body);
}

begin();
