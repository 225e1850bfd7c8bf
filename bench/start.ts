// Measures starts: importing the packages compared with their dependencies, `colloquy --help` compared with a bare
// Node, and the part of the machine that a browser loads. Each runs in a new process, with the packages of
// `scripts/build.ts`. Only the CPU of whole processes counts, so a busy machine changes the ratios little.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { withInstalled } from "./kit/installed.ts";
import { type Figure, median, short } from "./kit/measure.ts";
import { browserBytes } from "./start/browser-bytes.ts";

export const benchmark = (rounds: number): Promise<readonly Figure[]> =>
  withInstalled(async (folder) => [...importsIn(folder, rounds), ...(await sizesIn(folder))]);

/** The packages with which our import is compared. The machine needs a part of each. */
const below = ["xstate", "zod", "fp-ts/lib/Either.js"];

const importsIn = (folder: string, rounds: number): readonly Figure[] => {
  const imports = (...names: readonly string[]): readonly string[] => [
    "--input-type=module",
    "--eval",
    names.map((name) => `import ${JSON.stringify(name)};`).join(" "),
  ];
  const commands = {
    "a bare Node": ["--eval", ""],
    "xstate, zod and fp-ts": imports(...below),
    machine: imports("@colloquy/machine"),
    host: imports("@colloquy/host"),
    "runtime-node": imports("@colloquy/runtime-node"),
    "colloquy --help": [join(folder, "node_modules/@colloquy/cli/dist/main.js"), "--help"],
  };
  type Name = keyof typeof commands;
  const names = Object.keys(commands) as readonly Name[];
  // A start is short: the median of three has been half as much again on an idle machine.
  const costs = Array.from({ length: Math.max(rounds, 5) }, (_, round) => {
    const inOrder = round % 2 === 0 ? names : names.toReversed();
    return Object.fromEntries(inOrder.map((name) => [name, cpuOf(folder, commands[name])])) as Record<Name, number>;
  });
  const ratio = (name: string, of: (cost: Record<Name, number>) => readonly [number, number], most: number): Figure => {
    const pairs = costs.map(of);
    const [ours, reference] = [0, 1].map((side) => median(pairs.map((pair) => pair[side] ?? Number.NaN)));
    return {
      name,
      value: median(pairs.map(([mine, theirs]) => mine / theirs)),
      most,
      note: `${short(ours ?? Number.NaN)} ms against ${short(reference ?? Number.NaN)}`,
    };
  };
  const imported = (name: Name, reference: Name, most: number): Figure =>
    ratio(
      `import of ${name} / of ${reference}`,
      (cost) => [cost[name] - cost["a bare Node"], cost[reference] - cost["a bare Node"]],
      most,
    );
  return [
    imported("machine", "xstate, zod and fp-ts", 0.8),
    imported("host", "xstate, zod and fp-ts", 1.3),
    imported("runtime-node", "xstate, zod and fp-ts", 1.9),
    imported("runtime-node", "machine", Number.POSITIVE_INFINITY),
    ratio(
      "process of runtime-node / of a bare Node",
      (cost) => [cost["runtime-node"], cost["a bare Node"]],
      Number.POSITIVE_INFINITY,
    ),
    // 1.4: wide enough for the hundredths of a second.
    ratio("colloquy --help / a bare Node", (cost) => [cost["colloquy --help"], cost["a bare Node"]], 2),
  ];
};

/**
 * Returns the milliseconds of CPU of a Node process, as the mean of several: systems count hundredths of a second,
 * which the shell adds up.
 */
const cpuOf = (folder: string, args: readonly string[]): number => {
  const processes = 4;
  const script = `${'"$@" >/dev/null || exit 1;'.repeat(processes)} times`;
  const shown = execFileSync("sh", ["-c", script, "sh", process.execPath, ...args], { cwd: folder, encoding: "utf8" });
  const [, children = ""] = shown.trim().split("\n");
  const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => 60 * Number(minutes) + Number(rest),
  );
  return (1000 * seconds.reduce((sum, each) => sum + each, 0)) / processes;
};

const sizesIn = async (folder: string): Promise<readonly Figure[]> => {
  const { own, whole } = await browserBytes(folder, ["@colloquy/machine"]);
  const journal = await browserBytes(folder, ["@colloquy/machine", "@colloquy/machine/journal"]);
  const kilobytes = (name: string, { zipped, bytes }: { zipped: number; bytes: number }, most: number): Figure => ({
    name,
    value: zipped / 1000,
    most,
    note: `${bytes} bytes before gzip`,
  });
  return [
    kilobytes("kB of the machine in a browser, minified and zipped, beside xstate, fp-ts and zod", own, 45),
    kilobytes("the same with these", whole, 60),
    kilobytes("the same with the journal", journal.whole, 65),
  ];
};
