import type { Store, StoredThread } from "@colloquy/host";
import type { CommandContext } from "./command-context.ts";
import { storedThreads, withStore } from "./kept-threads.ts";
import { named, oneLine, printableJson, shortened } from "@colloquy/cli/terminal";
import type { OptionValues } from "./options.ts";

/**
 * Lists the threads of a store, newest first; with `find`, the matching messages by thread. Returns the exit code, 0.
 */
export const listThreads = (
  { store: path, find }: Pick<OptionValues, "store" | "find">,
  { printer }: Pick<CommandContext, "printer">,
): Promise<number> =>
  withStore(path, async (store) => {
    for await (const line of find === undefined ? threadLines(store) : hitLines(store, find)) printer.line(line);
    return 0;
  });

const threadLines = async function* (store: Store): AsyncGenerator<string> {
  for await (const thread of storedThreads(store)) yield lineOf(thread);
};

const lineOf = ({ threadId, seq, createdAt, updatedAt, metadata }: StoredThread): string =>
  [
    named(threadId),
    `${seq + 1} entries`,
    `from ${instant(createdAt)}`,
    `to ${instant(updatedAt)}`,
    ...(Object.keys(metadata).length === 0 ? [] : [shortened(printableJson(metadata))]),
  ].join("  ");

const hitLines = async function* (store: Store, words: string): AsyncGenerator<string> {
  if (store.search === undefined) throw new Error("this store can't be searched; one in a SQLite file can");
  for (let after: string | null | undefined; after !== null;) {
    const { hits, next } = await store.search(words, after === undefined ? {} : { after });
    for (const { threadId, seq, at, excerpt } of hits)
      yield `${named(threadId)}  entry ${seq}  ${instant(at)}  ${oneLine(excerpt)}`;
    after = next;
  }
};

/** Formats a time; the time of an event may be any number. */
const instant = (at: number): string => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
};
