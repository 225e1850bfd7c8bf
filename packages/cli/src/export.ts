import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fold } from "@colloquy/machine/journal";
import { type Entry, type Message, messagesOf } from "@colloquy/machine";
import type { Loss } from "@colloquy/interchange";
import type { Store } from "@colloquy/host";
import type { CommandContext } from "./command-context.ts";
import {
  isWrittenDataset,
  writtenDatasets,
  isOfPairs,
  rowsAs,
  type WrittenDataset,
  lossLine,
  messageWriter,
} from "./written-formats.ts";
import { storedEntries, storedJournals, storedThreads, withStore } from "./kept-threads.ts";
import type { OptionValues } from "./options.ts";
import { failureText, named, oneLine, printableJson } from "@colloquy/cli/terminal";
import { writeNewFile } from "./text-file.ts";
import { datasetReport, linearise, type LineariseOptions } from "@colloquy/sessions/datasets";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { estimateCounter } from "@colloquy/machine/policies";
import { optionsFromModule } from "./optional-modules.ts";

/** The source, the format, and the target: a new file, or with `all` a folder with a file for every thread. */
type ExportOptions = Pick<OptionValues, "store" | "as" | "to" | "all"> & DatasetOptions;

/**
 * Writes a thread, or all of a store: as journals, without loss, or as the messages of another format. Reports losses
 * on the error output. Returns the exit code: 0; 1 if one of all threads could not be written.
 *
 * @throws Error for an unknown thread or format, and for a file that exists already.
 */
export const exportThreads = (
  ids: readonly string[],
  { store: path, as = "journal", to, all = false, ...rest }: ExportOptions,
  { printer, errors }: Pick<CommandContext, "printer" | "errors">,
): Promise<number> =>
  withStore(path, async (store) => {
    if (isWrittenDataset(as))
      return exportDataset(store, ids, as, { all, ...(to === undefined ? {} : { to }), ...rest }, { printer, errors });
    const [stray] = Object.keys(rest).filter((name) => datasetOptionNames.includes(name));
    if (stray !== undefined) throw new Error(`--${stray} is for data sets: export --as ${writtenDatasets.join(", ")}`);
    const write = writerOf(as);
    const lost = (threadId: string, losses: readonly Loss[]): void => {
      for (const loss of losses)
        errors.line(oneLine(`${all ? `${named(threadId)}: ` : ""}${lossLine("message", loss)}`));
    };
    if (all) {
      if (ids.length > 0) throw new Error(`export --all takes no thread; ${ids.length} are named`);
      if (to === undefined) throw new Error("export --all needs the folder to write to: --to FOLDER");
      return exportAll(store, { write, lost, to, ending: as === "journal" ? "jsonl" : "json" }, { printer, errors });
    }
    const [threadId, ...more] = ids;
    if (threadId === undefined || more.length > 0) throw new Error(`export takes one thread; ${ids.length} are named`);
    const { text, losses } = write(threadId, await store.read(threadId));
    if (to === undefined) printer.text(text);
    else writeNewFile(to, text);
    lost(threadId, losses);
    return 0;
  });

const exportAll = async (
  store: Store,
  {
    write,
    lost,
    to,
    ending,
  }: {
    readonly write: Writer;
    readonly lost: (threadId: string, losses: readonly Loss[]) => void;
    readonly to: string;
    readonly ending: string;
  },
  { printer, errors }: Pick<CommandContext, "printer" | "errors">,
): Promise<number> => {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const taken = new Set<string>();
  let failures = 0;
  for await (const { threadId } of storedThreads(store)) {
    try {
      const { text, losses } = write(threadId, await store.read(threadId));
      const file = join(to, `${freeName(threadId, taken)}.${ending}`);
      writeNewFile(file, text);
      printer.line(`${named(threadId)}  ${named(file)}`);
      lost(threadId, losses);
    } catch (thrown) {
      failures++;
      errors.line(`colloquy: ${named(threadId)}: ${failureText(thrown)}`);
    }
  }
  return failures === 0 ? 0 : 1;
};

/** Returns an unused name, ignoring case, because some file systems do. */
const freeName = (threadId: string, taken: Set<string>): string => {
  const plain =
    threadId
      .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
      .replace(/^-+/, "")
      .slice(0, 80) || "thread";
  let name = plain;
  for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${plain}-${number}`;
  taken.add(name.toLowerCase());
  return name;
};

/** Converts a stored thread to text. @throws Error for a thread that does not exist, or cannot be read. */
type Writer = (
  threadId: string,
  stored: readonly unknown[],
) => { readonly text: string; readonly losses: readonly Loss[] };

const writerOf = (as: string): Writer => {
  if (as === "journal")
    return (threadId, stored) => ({
      text: storedEntries(threadId, stored)
        .map((entry) => `${printableJson(entry)}\n`)
        .join(""),
      losses: [],
    });
  const write = messageWriter(as);
  return (threadId, stored) => {
    const { value, losses } = write(messagesIn(threadId, storedEntries(threadId, stored)));
    return { text: `${printableJson(value, 2)}\n`, losses };
  };
};

const messagesIn = (threadId: string, entries: readonly Entry[]): readonly Message[] => {
  const folded = fold(entries);
  if ("left" in folded)
    throw new Error(`thread "${threadId}" can't be read: entry ${folded.left.seq}: ${folded.left.reason}`);
  const { system } = folded.right.context.conversation;
  return system === null ? messagesOf(folded.right) : [system, ...messagesOf(folded.right)];
};

/** The module with the offered tools and the counter, the scope of an example, and the wanted scores. */
type DatasetOptions = Pick<OptionValues, "options" | "per" | "score" | "min-score">;

const datasetOptionNames: readonly string[] = ["options", "per", "score", "min-score"];

/**
 * Writes threads of a store, or all of them, as one data set in JSON lines. Reports omissions, and the examples'
 * tokens, on the error output. Returns the exit code: 0; 1 if a thread could not be read, or there are no rows (then
 * nothing is written).
 *
 * @throws Error for invalid options, and for a file that exists already.
 */
const exportDataset = async (
  store: Store,
  ids: readonly string[],
  as: WrittenDataset,
  { all = false, to, ...options }: Pick<ExportOptions, "all" | "to"> & DatasetOptions,
  { printer, errors }: Pick<CommandContext, "printer" | "errors">,
): Promise<number> => {
  if (all && ids.length > 0) throw new Error(`export --all takes no thread; ${ids.length} are named`);
  if (!all && ids.length === 0) throw new Error("export takes threads, or --all; none is named");
  const { counter = estimateCounter, tools = [] } = await optionsFromModule(options.options);
  const selection = { ...selectionOf(options), turns: isOfPairs(as) ? "all" : "kept" } as const;
  const journals: NamedJournal[] = [];
  let failures = 0;
  for await (const journal of storedJournals(store, all ? null : ids)) {
    const name = named(journal.name);
    if ("entries" in journal) journals.push({ name, entries: journal.entries });
    else {
      failures++;
      errors.line(`colloquy: ${name}: ${journal.problem}`);
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

const selectionOf = ({ per = "turn", score, "min-score": least }: DatasetOptions): LineariseOptions => {
  if (per !== "turn" && per !== "step") throw new Error(`--per is "${per}"; it must be one of: turn, step`);
  const minScore = Number(least ?? Number.NaN);
  if (least !== undefined && (least.trim() === "" || Number.isNaN(minScore)))
    throw new Error(`--min-score is "${least}"; it must be a number, such as 0.5`);
  return { per, ...(score === undefined ? {} : { score }), ...(least === undefined ? {} : { minScore }) };
};
