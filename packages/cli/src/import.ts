import { createHost, type Host, type HostedThread, ThreadExistsError } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import type { CommandContext } from "./command-context.ts";
import { isReadDataset } from "./dataset-formats.ts";
import { type ReadFile, threadsFromDataset } from "./import-dataset.ts";
import { journalFile, journalPaths } from "./journal-files.ts";
import { openStore } from "./kept-threads.ts";
import { asCommand, formatNamed, lossLine } from "./message-formats.ts";
import type { OptionValues } from "./options.ts";
import { failureText, named, oneLine, reasonOf } from "@colloquy/terminal";
import { readTextFile } from "./text-file.ts";

/** Into where, from what, and under which id; with `repair`, what can be mended in messages is mended, and reported. */
type ImportOptions = Pick<OptionValues, "store" | "from" | "thread" | "repair">;

/**
 * Makes a thread from each file: a journal, or the messages of another format, as JSON; or from each line of a data set. What a thread has no place for is
 * reported on the error output, and so is a file that holds no such conversation, or whose thread is there already. Each is
 * tried, whatever becomes of the others. Gives the exit code: 0; 1 where one could not be imported.
 *
 * @throws Error for options that are invalid, and for a path where nothing is.
 */
export const importThreads = async (
  paths: readonly string[],
  options: ImportOptions,
  { printer, errors }: Pick<CommandContext, "printer" | "errors">,
): Promise<number> => {
  if (paths.length === 0) throw new Error("import takes files; none is named");
  if (options.store === undefined)
    throw new Error("--store is missing: the SQLite file, the folder or the URL that is to keep the thread");
  const read = readerOf(options);
  const files = (options.from ?? "journal") === "journal" ? journalPaths(paths) : paths;
  if (options.thread !== undefined && files.length > 1)
    throw new Error(`--thread names one thread, and there are ${files.length} files; import them under their own ids`);
  const store = await openStore(options.store);
  const host = createHost({
    machine: conversationMachine(),
    store,
    // Nothing is asked here: what was under way goes on where the thread is used.
    llm: () => Promise.reject(new Error("importing calls no model")),
    clock: systemClock,
    ids: randomIds,
  });
  let failures = 0;
  try {
    for (const path of files) {
      try {
        const found = await read(host, path, (line) => errors.line(`${named(path)}: ${oneLine(line)}`));
        for (const id of found.ids) printer.line(named(id));
        failures += found.failures;
      } catch (thrown) {
        errors.line(`colloquy: ${named(path)}: ${failureText(withAdvice(thrown))}`);
        failures++;
      }
    }
    return failures === 0 ? 0 : 1;
  } finally {
    await host.close();
    await store.close();
  }
};

const withAdvice = (thrown: unknown): unknown =>
  thrown instanceof ThreadExistsError
    ? new Error(`thread "${thrown.threadId}" exists already; give the new one another id with --thread`, {
        cause: thrown,
      })
    : thrown;

/** Imports a file. Resolves with the ids of its threads; rejects with why there are none. */
type Reader = (host: Host, path: string, report: (line: string) => void) => Promise<ReadFile>;

const readerOf = ({ from = "journal", thread, repair = false }: ImportOptions): Reader => {
  const under = thread === undefined ? {} : { threadId: thread };
  if (from === "journal") {
    if (repair) throw new Error("--repair mends messages of another format; name it with --from, such as --from chat");
    return async (host, path) => {
      const file = journalFile(path);
      if (!("entries" in file)) throw new Error(`it can't be read: ${file.problem}${hintOf(path)}`);
      return one(await host.importJournal(file.entries, under));
    };
  }
  if (isReadDataset(from)) {
    if (repair) throw new Error(`--repair mends messages of another format, and ${from} is a data set`);
    if (thread !== undefined) throw new Error("--thread names one thread, and each line of a data set is one");
    return (host, path, report) => threadsFromDataset(host, path, from, report);
  }
  const { read } = formatNamed("--from", from);
  return async (host, path, report) => {
    const conversation = read(jsonIn(path), { repair });
    if ("left" in conversation) throw new Error(asCommand(conversation.left.reason));
    for (const loss of conversation.right.losses) report(lossLine("item", loss));
    return one(await host.importMessages(conversation.right, under));
  };
};

const one = ({ id }: HostedThread): ReadFile => ({ ids: [id], failures: 0 });

/** For a file that is one list: not the lines of a journal, but what another format would be. */
const hintOf = (path: string): string => {
  try {
    if (!Array.isArray(jsonIn(path))) return "";
  } catch {
    return "";
  }
  return `. It is a list: if it holds messages, say of which format, such as --from chat`;
};

const jsonIn = (path: string): unknown => {
  const text = readTextFile(path);
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new Error(`it holds no JSON: ${reasonOf(thrown)}`, { cause: thrown });
  }
};
