import { installedProgram, installProgram, type NpmProgram, thisSystem } from "./npm-program.ts";

/** The server of Restate, 220 MB. */
const restate: NpmProgram = {
  name: "Restate",
  version: "1.7.12",
  package: `@restatedev/restate-server-${thisSystem}`,
  path: "bin/restate-server",
};

/** Returns the path of the server's program; null before `pnpm engines:install`. */
export const restateProgram = (): string | null => installedProgram(restate);

// `pnpm engines:install`
if (import.meta.main) console.log(`${restate.name} ${restate.version}: ${installProgram(restate)}`);
