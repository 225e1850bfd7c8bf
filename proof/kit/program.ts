import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { rolldown, type RolldownPluginOption } from "rolldown";

import { inFolder } from "./folder.ts";

/**
 * Makes one file of a child's program for as long as it is used: it starts seven times as fast as from its sources,
 * which matters where it is started several times for each run.
 */
export const withProgram = <A>(
  source: URL,
  use: (program: string) => Promise<A>,
  plugins: RolldownPluginOption = [],
): Promise<A> =>
  inFolder("program", async (folder) => {
    const bundle = await rolldown({ input: fileURLToPath(source), platform: "node", plugins });
    const file = join(folder, "child.mjs");
    await bundle.write({ file, format: "esm", codeSplitting: false });
    await bundle.close();
    return use(file);
  });

/** How a child ended, and what it wrote. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It was killed because it took longer than `childSecondsMax`. */
  readonly hung: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** A child that takes longer than this hangs. */
export const childSecondsMax = 100;

/** Runs a child with its options as JSON in its first argument, and kills it so long after its first output; never, where that is null. */
export const runChild = async (program: string, options: unknown, killAfterMs: number | null): Promise<ChildEnd> => {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
  const kill = (): void => void child.kill("SIGKILL");
  let hung = false;
  const watchdog = setTimeout(() => {
    hung = true;
    kill();
  }, childSecondsMax * 1000);
  if (killAfterMs !== null) child.stdout.once("data", () => void setTimeout(kill, killAfterMs));
  // The types of `once` don't know the arguments of an event.
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const [stdout, stderr, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  clearTimeout(watchdog);
  return { code, signal, hung, stdout, stderr: stderr.trim() };
};
