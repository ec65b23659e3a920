// What all pages use. Words become text nodes, never markup.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);

/** A new element with attributes, holding texts and other elements. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Text of one side inside a sentence of ours, kept from turning that sentence about. */
const word = (text, side) => element("bdi", { lang: data[side].language }, text);

/** What the fragment of the address asks for. */
const wished = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

const signed = (value) => value.toFixed(2).replace("-0.00", "0.00").replace("-", "−");

/** A probability in percent, as exactly as one reads it. */
function percent(probability) {
  if (probability > 0 && probability < 0.001) return "<0.1\u202f%";
  return `${(probability * 100).toFixed(probability >= 0.0995 || !probability ? 0 : 1)}\u202f%`;
}
