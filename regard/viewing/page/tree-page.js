// The page of `regard look --beam`: one search as a tree.

import { wished } from "./address.js";
import { byId } from "./common.js";
import { enclosed, followAddress, openPage } from "./opening.js";
import { changeTree, mountTree, showTree } from "./pointing.js";
import { say } from "./texts.js";

const data = enclosed();
openPage(say("tree.page"), data);
mountTree(byId("views"));
showTree(data, wished());
followAddress(changeTree);
