import type { Host, ListOptions, StoredThread } from "@colloquy/host";
import { type JsonObject, turnsOf } from "@colloquy/machine";

/**
 * Returns the newest memory that the episodes of a session left on the path of a parent thread, before a turn; "" if
 * there is none. For a fork, the episodes of the original count up to the turn of the fork.
 *
 * @param node the name of the session under the parent.
 */
export const pastMemory = async (
  host: Host,
  threadId: string,
  node: string,
  before: number = Infinity,
): Promise<string> => {
  const state = await host.thread(threadId).state();
  if (state === null) return "";
  let turns = turnsOf(state)
    .map(({ number }) => number)
    .filter((number) => number < before);
  let { forkedFrom } = state.context;
  for (let parentThread = threadId; ;) {
    const memory = await newestMemory(host, { parentThread, node, lifespan: "episodic" }, new Set(turns));
    if (memory !== null || forkedFrom === null) return memory ?? "";
    const { threadId: original, turn } = forkedFrom;
    parentThread = original;
    turns = turns.filter((number) => number <= turn);
    forkedFrom = (await host.thread(original).state())?.context.forkedFrom ?? null;
  }
};

/** Returns the memory of the newest thread with this metadata that hangs from one of the turns. */
const newestMemory = async (host: Host, metadata: JsonObject, turns: ReadonlySet<unknown>): Promise<string | null> => {
  for await (const { metadata: said } of threadsIn(host, { metadata }))
    if (typeof said["memory"] === "string" && turns.has(said["parentTurn"])) return said["memory"];
  return null;
};

/** Yields the threads of a list, page by page. */
export const threadsIn = async function* (host: Host, options: ListOptions): AsyncGenerator<StoredThread> {
  for (let after: string | null | undefined; after !== null;) {
    const page = await host.threads({ ...options, ...(after === undefined ? {} : { after }) });
    yield* page.threads;
    after = page.next;
  }
};
