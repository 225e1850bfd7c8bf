import { readFileSync } from "node:fs";
import { createHost, type Host } from "@colloquy/host";
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

/** Into where, from what, and under which id. */
export interface ImportOptions {
  readonly store?: string | undefined;
  readonly from?: string | undefined;
  readonly thread?: string | undefined;
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
  } finally {
    await host.close();
    await store.close();
  }
};

const imported = async (
  host: Host,
  path: string,
  { from = "journal", thread }: ImportOptions,
  tell: (line: string) => void,
): Promise<string> => {
  const named = thread === undefined ? {} : { threadId: thread };
  if (from === "journal") {
    const file = journalFile(path);
    if (!("entries" in file)) throw new Error(`${path} can't be read: ${file.problem}`);
    return (await host.importJournal(file.entries, named)).id;
  }
  const read = formats[from];
  if (read === undefined)
    throw new Error(`--from is "${from}"; it must be one of: journal, ${Object.keys(formats).join(", ")}`);
  const conversation = read(jsonIn(path));
  if ("left" in conversation) throw new Error(`${path}: ${conversation.left.reason}`);
  for (const { index, path: where, what, why } of conversation.right.losses)
    tell(`not carried: item ${index}${where === "" ? "" : `, ${where}`}: ${what}: ${why}`);
  return (await host.importMessages(conversation.right, named)).id;
};

const formats: Readonly<
  Record<string, (items: unknown) => { readonly left: ImportProblem } | { readonly right: Imported }>
> = {
  chat: (items) => fromChatMessages(items),
  responses: (items) => fromResponseItems(items),
  model: (items) => fromModelMessages(items),
  ui: (items) => fromUiMessages(items),
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
