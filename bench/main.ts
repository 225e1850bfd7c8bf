// `pnpm bench [--only NAME …] [--rounds N]`: ratios within one run, each held against what it may come to; figures
// without a bound are only reported. Absolute figures are of this machine on this day. Exits with 1 when one falls
// short, with 2 for arguments that can't be meant.
import { parseArgs } from "node:util";
import { type Figure, short } from "./measure.ts";

const benchmarks: {
  readonly [name: string]: () => Promise<{ readonly benchmark: (rounds: number) => Promise<readonly Figure[]> }>;
} = {
  transition: () => import("./transition.ts"),
  immutable: () => import("./immutable.ts"),
  turn: () => import("./turn.ts"),
  growth: () => import("./growth.ts"),
  queues: () => import("./queues.ts"),
  streaming: () => import("./streaming.ts"),
  disk: () => import("./disk.ts"),
  opening: () => import("./opening.ts"),
  prompt: () => import("./prompt.ts"),
  pruning: () => import("./pruning.ts"),
  memory: () => import("./memory.ts"),
  manyThreads: () => import("./many-threads.ts"),
  peers: () => import("./peers.ts"),
};

const main = async (): Promise<void> => {
  const { only, rounds } = argumentsGiven();
  const names = only ?? Object.keys(benchmarks);
  const figures: Figure[] = [];
  for (const name of names) {
    const load = benchmarks[name];
    if (load === undefined) continue;
    for (const figure of await (await load()).benchmark(rounds)) {
      figures.push(figure);
      console.log(inWords(figure));
    }
  }
  const missed = figures.filter(fallsShort);
  console.log(`${figures.length - missed.length} of ${figures.length} figures are within their bounds`);
  process.exitCode = missed.length === 0 ? 0 : 1;
};

/** More rounds take longer and vary less. */
const defaultRounds = 9;

const argumentsGiven = (): { readonly only: readonly string[] | undefined; readonly rounds: number } => {
  try {
    const { values } = parseArgs({ options: { only: { type: "string", multiple: true }, rounds: { type: "string" } } });
    const rounds = Number(values.rounds ?? defaultRounds);
    if (!Number.isSafeInteger(rounds) || rounds < 1) {
      throw new RangeError(`--rounds is "${values.rounds}"; give a whole number of 1 or more`);
    }
    const unknown = values.only?.find((name) => benchmarks[name] === undefined);
    if (unknown !== undefined) throw new RangeError(`there is no benchmark "${unknown}"`);
    return { only: values.only, rounds };
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : thrown);
    console.error(`usage: pnpm bench [--only ${Object.keys(benchmarks).join("|")}]… [--rounds ${defaultRounds}]`);
    return process.exit(2);
  }
};

const fallsShort = ({ value, most }: Figure): boolean => !(value <= most);

const inWords = (figure: Figure): string =>
  [
    fallsShort(figure) ? "SHORT " : "ok    ",
    short(figure.value).padStart(7),
    Number.isFinite(figure.most) ? ` (at most ${figure.most})` : "",
    `  ${figure.name}: ${figure.note}`,
  ].join("");

await main();
