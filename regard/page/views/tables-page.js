// A lesson of tables as a page.

import { byId } from "../parts/common.js";
import { enclosed, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";
import { tableSection } from "./tables.js";

const data = enclosed();
openPlainPage(data.heading === "examples" ? say("examples.page") : say("lesson.page"), data.title);
data.tables.forEach((/** @type {any} */ table, /** @type {number} */ number) => {
  byId("views").append(tableSection(table, `table-${number + 1}`));
});
