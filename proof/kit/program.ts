import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type Plugin, rolldown, type RolldownPluginOption } from "rolldown";

import { Child, type ChildEnd } from "./child.ts";
import { inFolder } from "./folder.ts";

/**
 * Bundles a child's program into one file while `use` runs. The bundle starts seven times as fast as the sources, which
 * matters for a child that starts several times in each run.
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

export const childSecondsMax = 100;

/** Returns the command line of a program whose first argument is its options as JSON. */
export const childCommand = (program: string, options: unknown): readonly [string, ...string[]] => [
  process.execPath,
  program,
  JSON.stringify(options),
];

/** Runs a child with its options, and kills it `killAfterMs` after its first output; never if that is null. */
export const runChild = (program: string, options: unknown, killAfterMs: number | null): Promise<ChildEnd> => {
  const child = new Child(childCommand(program, options), { secondsMax: childSecondsMax });
  if (killAfterMs !== null)
    void child.said(/^/).then(
      () => setTimeout(() => child.signal("SIGKILL"), killAfterMs),
      () => undefined,
    );
  return child.ended;
};

/** A fault in a source: a text that occurs there once, and its replacement. */
export interface Mistake {
  /** The end of the source's path. */
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

/** Returns the plugins that build a fault's mistakes into sources; none without a fault. */
export const withFault = <Fault extends string>(
  mistakes: Readonly<Record<Fault, Mistake | readonly Mistake[]>>,
  fault: Fault | null,
): Plugin[] => {
  const made = fault === null ? [] : [mistakes[fault]].flat();
  const transform = (code: string, id: string): string =>
    made.filter(({ file }) => id.endsWith(file)).reduce(wrong, code);
  return fault === null ? [] : [{ name: "mistakes", transform }];
};

/** @throws Error if the source does not have the text once */
const wrong = (code: string, { file, text, instead }: Mistake): string => {
  const parts = code.split(text);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times the text to replace: ${text}`);
  return parts.join(instead);
};
