import type { ListOptions, Store, StoredThread } from "@colloquy/host";
import type { CommandSetting } from "./command.ts";
import { withStore } from "./kept-threads.ts";

/** Which threads are listed, and what they have to say. */
export interface ThreadsOptions {
  readonly store?: string | undefined;
  readonly find?: string | undefined;
}

/** Lists the threads of a store, newest first; with `find`, what was said in which of them. Gives the exit code, 0. */
export const listThreads = (
  { store: path, find }: ThreadsOptions,
  { output }: Pick<CommandSetting, "output">,
): Promise<number> =>
  withStore(path, async (store) => {
    for await (const line of find === undefined ? threadLines(store) : hitLines(store, find)) output.write(`${line}\n`);
    return 0;
  });

const threadLines = async function* (store: Store): AsyncGenerator<string> {
  let options: ListOptions | null = {};
  while (options !== null) {
    const { threads, next } = await store.list(options);
    yield* threads.map(lineOf);
    options = next === null ? null : { after: next };
  }
};

const lineOf = ({ threadId, seq, createdAt, updatedAt, metadata }: StoredThread): string =>
  [
    threadId,
    `${seq + 1} entries`,
    `from ${instant(createdAt)}`,
    `to ${instant(updatedAt)}`,
    ...(Object.keys(metadata).length === 0 ? [] : [JSON.stringify(metadata)]),
  ].join("  ");

const hitLines = async function* (store: Store, words: string): AsyncGenerator<string> {
  if (store.search === undefined) throw new Error("this store can't be searched; one in a SQLite file can");
  for (let after: string | null | undefined; after !== null;) {
    const { hits, next } = await store.search(words, after === undefined ? {} : { after });
    for (const { threadId, seq, at, excerpt } of hits)
      yield `${threadId}  entry ${seq}  ${instant(at)}  ${excerpt.replaceAll(/\s+/g, " ")}`;
    after = next;
  }
};

/** Events may say any number. */
const instant = (at: number): string => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
};
