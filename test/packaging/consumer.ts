// A program of a user who has installed the packages; see packaging.long.test.ts.
import * as machine from "@colloquy/machine";

import { oneTurn } from "../one-turn.ts";

console.log(JSON.stringify(oneTurn(machine)));
