// `pnpm bench [--only NAME]`: ratios within one run, each held against what it may come to. Absolute figures are of
// this machine on this day. Exits non-zero when one falls short.
import { parseArgs } from "node:util";
import { type Figure, short } from "./measure.ts";

const benchmarks: { readonly [name: string]: () => Promise<{ readonly benchmark: () => Promise<readonly Figure[]> }> } =
  {
    transition: () => import("./transition.ts"),
    turn: () => import("./turn.ts"),
    growth: () => import("./growth.ts"),
    streaming: () => import("./streaming.ts"),
    disk: () => import("./disk.ts"),
  };

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: { only: { type: "string" } } });
  const names = values.only === undefined ? Object.keys(benchmarks) : [values.only];
  const figures: Figure[] = [];
  for (const name of names) {
    const load = benchmarks[name];
    if (load === undefined) {
      throw new RangeError(`there is no benchmark "${name}"; there are: ${Object.keys(benchmarks).join(", ")}`);
    }
    for (const figure of await (await load()).benchmark()) {
      figures.push(figure);
      console.log(inWords(figure));
    }
  }
  const missed = figures.filter(fallsShort);
  console.log(`${figures.length - missed.length} of ${figures.length} figures are within their bounds`);
  process.exitCode = missed.length === 0 ? 0 : 1;
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
