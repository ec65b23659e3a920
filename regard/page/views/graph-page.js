// The page of `regard look` for a model that attends along the edges of a graph.

import { wished } from "../parts/address.js";
import { byId } from "../parts/common.js";
import { changeGraph, layOutGraph, mountGraph, showGraph } from "./graph.js";
import { enclosed, followAddress, followWidth, openPlainPage } from "../parts/opening.js";
import { say } from "../parts/texts.js";

const data = enclosed();
openPlainPage(say("graph.page"), data.title);
mountGraph(byId("views"));
showGraph(data, wished());
followWidth(layOutGraph);
followAddress(changeGraph);
