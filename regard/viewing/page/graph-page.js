// The page of `regard look` for a model that looks along the edges of a graph.

import { wished } from "./address.js";
import { byId } from "./common.js";
import { changeGraph, layOutGraph, mountGraph, showGraph } from "./graph.js";
import { enclosed, followAddress, followWidth, openPlainPage } from "./opening.js";
import { say } from "./texts.js";

const data = enclosed();
openPlainPage(say("graph.page"), data.title);
mountGraph(byId("views"));
showGraph(data, wished());
followWidth(layOutGraph);
followAddress(changeGraph);
