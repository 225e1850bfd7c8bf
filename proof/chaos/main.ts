// Holds conversations and uses stores while it kills, cuts, delays or changes what they depend on, by a seed. Then
// checks that nothing acknowledged is lost, repeated or run without approval. Exits with 1 on a violation.
import type { Command } from "../kit/target.ts";

/** All targets by name. Each loads alone, as some need a browser or an engine. */
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
