// What a one-file page cannot do with a text, as the name of a sentence.

/** A text that the model cannot read or write; `reason` is the name of a text of the page. */
export class Untranslatable extends Error {
  /** @param {string} reason @param {Record<string, number>} [values] */
  constructor(reason, values = {}) {
    super(reason);
    this.reason = reason;
    this.values = values;
  }
}
