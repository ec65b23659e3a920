// What sampling draws from, on paper; a browser test holds it to the filters of the searches.

import assert from "node:assert/strict";
import { test } from "node:test";

import { distribution, entropyOf, normalised, OFF } from "../../regard/page/views/next/filters.js";

const logs = (...shares) => Float64Array.from(shares, Math.log);
const shares = (values) => Array.from(values, Math.exp);

function near(found, wanted) {
  assert.equal(found.length, wanted.length);
  found.forEach((value, place) => assert.ok(Math.abs(value - wanted[place]) < 1e-9, `${found} is not ${wanted}`));
}

test("what is kept gets all of the probability", () => {
  near(shares(normalised(logs(2, 1, 1))), [0.5, 0.25, 0.25]);
  near(shares(normalised(Float64Array.of(0, -Infinity))), [1, 0]);
});

test("options that are off change nothing", () => {
  near(shares(distribution(logs(0.5, 0.3, 0.2), OFF)), [0.5, 0.3, 0.2]);
});

test("each filter cuts what it should", () => {
  const cut = (options) => shares(distribution(logs(0.5, 0.3, 0.2), { ...OFF, ...options }));
  near(cut({ top_k: 2 }), [0.625, 0.375, 0]);
  near(cut({ top_p: 0.8 }), [0.625, 0.375, 0]); // the second token reaches it exactly
  near(cut({ min_p: 0.5 }), [0.625, 0.375, 0]); // 0.2 is less than half of 0.5
  near(cut({ temperature: 0 }), [1, 0, 0]);
  near(cut({ temperature: 0.5 }), [25, 9, 4].map((value) => value / 38));
});

test("typical keeps what is as surprising as one expects, not what is likeliest", () => {
  const values = distribution(logs(0.6, 0.2, 0.1, 0.1), { ...OFF, typical: 0.2 });
  near(shares(values), [0, 1, 0, 0]); // -log 0.2 lies nearest to the entropy of 1.09
});

test("the entropy of a fair coin is log 2, and what was cut adds nothing", () => {
  assert.ok(Math.abs(entropyOf(logs(0.5, 0.5)) - Math.log(2)) < 1e-12);
  assert.equal(entropyOf(Float64Array.of(0, -Infinity)), 0);
});
