import { readFileSync } from "node:fs";
import { createHost, type Host, ThreadExistsError } from "@colloquy/host";
import {
  conversationMachine,
  fromChatMessages,
  fromModelMessages,
  fromResponseItems,
  fromUiMessages,
  type Imported,
  type ImportProblem,
} from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import type { CommandSetting } from "./command.ts";
import { journalFile } from "./journal-files.ts";
import { openStore } from "./kept-threads.ts";
import { asCommand } from "./library-advice.ts";

/** Into where, from what, and under which id. */
export interface ImportOptions {
  readonly store?: string | undefined;
  readonly from?: string | undefined;
  readonly thread?: string | undefined;
  /** Mend what can be mended in messages of another format, and tell of it. */
  readonly repair?: boolean | undefined;
}

/**
 * Makes a thread from a file: a journal, or the messages of another format, as JSON. What the thread has no place for is
 * told on the error output. Gives the exit code, 0.
 *
 * @throws Error for a file that holds no such conversation, and for a thread that is there.
 */
export const importThread = async (
  paths: readonly string[],
  options: ImportOptions,
  { output, error }: Pick<CommandSetting, "output" | "error">,
): Promise<number> => {
  const [path, ...more] = paths;
  if (path === undefined || more.length > 0) throw new Error(`import takes one file; ${paths.length} are named`);
  if (options.store === undefined)
    throw new Error("--store is missing: the SQLite file, or the folder, that is to keep the thread");
  const store = openStore(options.store);
  const host = createHost({
    machine: conversationMachine(),
    store,
    // Nothing is asked here: what was under way goes on where the thread is used.
    llm: () => Promise.reject(new Error("importing calls no model")),
    clock: systemClock,
    ids: randomIds,
  });
  try {
    const id = await imported(host, path, options, (line) => error.write(`${line}\n`));
    output.write(`${id}\n`);
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof ThreadExistsError)) throw thrown;
    throw new Error(`thread "${thrown.threadId}" exists already; give the new one another id with --thread`, {
      cause: thrown,
    });
  } finally {
    await host.close();
    await store.close();
  }
};

const imported = async (
  host: Host,
  path: string,
  { from = "journal", thread, repair = false }: ImportOptions,
  tell: (line: string) => void,
): Promise<string> => {
  const named = thread === undefined ? {} : { threadId: thread };
  if (from === "journal") {
    if (repair) throw new Error("--repair mends messages of another format; name it with --from, such as --from chat");
    const file = journalFile(path);
    if (!("entries" in file)) throw new Error(`${path} can't be read: ${file.problem}${hintOf(path)}`);
    return (await host.importJournal(file.entries, named)).id;
  }
  const read = formats[from];
  if (read === undefined)
    throw new Error(`--from is "${from}"; it must be one of: journal, ${Object.keys(formats).join(", ")}`);
  const conversation = read(jsonIn(path), { repair });
  if ("left" in conversation) throw new Error(`${path}: ${asCommand(conversation.left.reason)}`);
  for (const { index, path: where, what, why } of conversation.right.losses)
    tell(`not carried: item ${index}${where === "" ? "" : `, ${where}`}: ${what}: ${why}`);
  return (await host.importMessages(conversation.right, named)).id;
};

const formats: Readonly<
  Record<
    string,
    (
      items: unknown,
      options: { readonly repair: boolean },
    ) => { readonly left: ImportProblem } | { readonly right: Imported }
  >
> = {
  chat: (items, options) => fromChatMessages(items, options),
  responses: (items, options) => fromResponseItems(items, options),
  model: (items, options) => fromModelMessages(items, options),
  ui: (items, options) => fromUiMessages(items, options),
};

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
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (thrown) {
    throw new Error(`${path} holds no JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`, {
      cause: thrown,
    });
  }
};
