// Holds conversations and uses stores, and kills, cuts, delays or changes what they rest on, as a seed says. Then looks
// whether anything that was acknowledged is lost, repeated or run without leave. Exits with 1 when anything is wrong.
import type { Command } from "../kit/target.ts";

/** All targets, by what is attacked. Each is loaded alone: some need a browser or an engine. */
const targets = {
  process: async () => (await import("./process/target.ts")).command,
  points: async () => (await import("./points/target.ts")).command,
  writers: async () => (await import("./writers/target.ts")).command,
  server: async () => (await import("./server/target.ts")).command,
  database: async () => (await import("./database/target.ts")).command,
  network: async () => (await import("./network/target.ts")).command,
  disk: async () => (await import("./disk/target.ts")).command,
  rows: async () => (await import("./rows/target.ts")).command,
  tabs: async () => (await import("./tabs/target.ts")).command,
  restate: async () => (await import("./restate/target.ts")).command,
} as const satisfies Readonly<Record<string, () => Promise<Command>>>;

const named = process.argv[process.argv.indexOf("--target") + 1] ?? "";
const names = Object.keys(targets);
const isTarget = (name: string): name is keyof typeof targets => names.includes(name);

if (process.argv.includes("--target") && isTarget(named)) await (await targets[named]())();
else {
  console.error(`Usage: pnpm chaos --target NAME [--help]\n\nNAME is one of ${names.join(", ")}.`);
  process.exitCode = process.argv.includes("--help") ? 0 : 2;
}
