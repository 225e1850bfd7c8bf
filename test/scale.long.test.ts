import { describe, it } from "vitest";

import { restateProgram } from "../proof/servers/restate-package.ts";
import { measuresLittle } from "./little-scale.ts";

const hasPostgres = (process.env["COLLOQUY_POSTGRES_URL"] ?? "") !== "";

// Processes that ask for seconds, servers of an engine that are started again and again.
const measured = ["journal", ...(hasPostgres ? ["asks"] : []), ...(restateProgram() === null ? [] : ["engine"])];

describe("pnpm scale, on little", () => {
  it.each(measured)("measures %s", measuresLittle);
});
