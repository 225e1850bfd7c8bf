// The program of somebody who has installed the packages; see packaging.test.ts.
import * as machine from "@colloquy/machine";

import { oneTurn } from "../one-turn.ts";

console.log(JSON.stringify(oneTurn(machine)));
