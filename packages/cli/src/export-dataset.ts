import { datasetReport, linearise, type LineariseOptions } from "@colloquy/sessions/datasets";
import type { Store } from "@colloquy/host";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { estimateCounter } from "@colloquy/machine/policies";
import type { CommandContext } from "./command-context.ts";
import { isOfPairs, rowsAs, type WrittenDataset } from "./dataset-formats.ts";
import { optionsFromModule } from "./options-module.ts";
import type { OptionValues } from "./options.ts";
import { storedEntries } from "./stored-entries.ts";
import { failureText, named, oneLine, printableJson } from "@colloquy/cli/terminal";
import { writeNewFile } from "./text-file.ts";
import { storedThreads } from "./threads.ts";

/** The module with the offered tools and the counter, the scope of an example, and the wanted scores. */
export type DatasetOptions = Pick<OptionValues, "options" | "per" | "score" | "min-score">;

/** The names of these options, which other formats do not have. */
export const datasetOptionNames: readonly string[] = ["options", "per", "score", "min-score"];

interface Exported {
  readonly ids: readonly string[];
  readonly as: WrittenDataset;
  readonly all: boolean;
  readonly to: string | undefined;
  readonly options: DatasetOptions;
}

/**
 * Writes threads of a store, or all of them, as one data set in JSON lines. Reports omissions, and the examples'
 * tokens, on the error output. Returns the exit code: 0; 1 if a thread could not be read, or there are no rows (then
 * nothing is written).
 *
 * @throws Error for invalid options, and for a file that exists already.
 */
export const exportDataset = async (
  store: Store,
  { ids, as, all, to, options }: Exported,
  { printer, errors }: Pick<CommandContext, "printer" | "errors">,
): Promise<number> => {
  if (all && ids.length > 0) throw new Error(`export --all takes no thread; ${ids.length} are named`);
  if (!all && ids.length === 0) throw new Error("export takes threads, or --all; none is named");
  const { counter = estimateCounter, tools = [] } = await optionsFromModule(options.options);
  const selection = { ...selectionOf(options), turns: isOfPairs(as) ? "all" : "kept" } as const;
  const journals: NamedJournal[] = [];
  let failures = 0;
  for await (const id of all ? idsIn(store) : ids) {
    try {
      journals.push({ name: named(id), entries: storedEntries(id, await store.read(id)) });
    } catch (thrown) {
      failures++;
      errors.line(`colloquy: ${named(id)}: ${failureText(thrown)}`);
    }
  }
  const linearised = linearise(journals, { ...selection, counter, tools });
  const { dataset, pairs } = rowsAs(as, linearised);
  const text = dataset.rows.map((row) => `${printableJson(row)}\n`).join("");
  if (dataset.rows.length > 0) {
    if (to === undefined) printer.text(text);
    else writeNewFile(to, text);
  }
  const report = datasetReport({ linearised, dataset, ...(pairs === undefined ? {} : { pairs }) });
  for (const line of report) errors.line(oneLine(line));
  if (all && journals.length + failures === 0) errors.line("colloquy: the store keeps no threads: nothing was written");
  return failures + linearised.unreadable.length === 0 && dataset.rows.length > 0 ? 0 : 1;
};

const idsIn = async function* (store: Store): AsyncGenerator<string> {
  for await (const { threadId } of storedThreads(store)) yield threadId;
};

const selectionOf = ({ per = "turn", score, "min-score": least }: DatasetOptions): LineariseOptions => {
  if (per !== "turn" && per !== "step") throw new Error(`--per is "${per}"; it must be one of: turn, step`);
  const minScore = Number(least ?? Number.NaN);
  if (least !== undefined && (least.trim() === "" || Number.isNaN(minScore)))
    throw new Error(`--min-score is "${least}"; it must be a number, such as 0.5`);
  return { per, ...(score === undefined ? {} : { score }), ...(least === undefined ? {} : { minScore }) };
};
