// Prints ratios within one run, each compared with its bound. Figures without a bound are only reported. Absolute
// figures hold for this machine today. Exits with 1 when a ratio exceeds its bound, with 2 for invalid arguments.
import { runCommand } from "../proof/kit/command.ts";
import { someOf, whole } from "../proof/kit/options.ts";
import { type Figure, short } from "./kit/measure.ts";

export const benchmarks: {
  readonly [name: string]: () => Promise<{ readonly benchmark: (rounds: number) => Promise<readonly Figure[]> }>;
} = {
  transition: () => import("./transition.ts"),
  immutable: () => import("./immutable.ts"),
  growth: () => import("./growth.ts"),
  workloads: () => import("./workloads.ts"),
  queues: () => import("./queues.ts"),
  streaming: () => import("./streaming.ts"),
  serving: () => import("./serving.ts"),
  disk: () => import("./disk.ts"),
  opening: () => import("./opening.ts"),
  prompt: () => import("./prompt.ts"),
  pruning: () => import("./pruning.ts"),
  bodies: () => import("./bodies.ts"),
  memory: () => import("./memory.ts"),
  manyThreads: () => import("./many-threads.ts"),
  start: () => import("./start.ts"),
  cold: () => import("./cold.ts"),
  telemetry: () => import("./telemetry.ts"),
  peers: () => import("./peers.ts"),
};

const fallsShort = ({ value, most }: Figure): boolean => !(value <= most);

const inWords = (figure: Figure): string =>
  [
    fallsShort(figure) ? "SHORT " : "ok    ",
    short(figure.value).padStart(7),
    Number.isFinite(figure.most) ? ` (at most ${figure.most})` : "",
    `  ${figure.name}: ${figure.note}`,
  ].join("");

const names = Object.keys(benchmarks);

if (import.meta.main)
  await runCommand({
    name: "bench",
    options: {
      only: someOf(names, `only these: ${names.join(", ")}`),
      rounds: whole(9, "how often each is measured: more rounds take longer and vary less"),
    },
    run: async ({ only, rounds }) => {
      const figures: Figure[] = [];
      for (const name of only)
        for (const figure of (await (await benchmarks[name]?.())?.benchmark(rounds)) ?? []) {
          figures.push(figure);
          console.log(inWords(figure));
        }
      const missed = figures.filter(fallsShort);
      console.log(`${figures.length - missed.length} of ${figures.length} figures are within their bounds`);
      // Again, since only the last lines of a failed step are kept.
      for (const figure of missed) console.log(inWords(figure));
      process.exitCode = missed.length === 0 ? 0 : 1;
    },
  });
