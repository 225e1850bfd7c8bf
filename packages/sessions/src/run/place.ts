import type { HostedThread, Host, ListOptions, StoredThread } from "@colloquy/host";
import { ConfigurationError, type JsonObject, turnsOf } from "@colloquy/machine";
import { type Memory, memoryOf } from "../program/memory.ts";
import type { SessionRuntime } from "../threads/session-runtime.ts";
import { placeOn, type SharedSession, type ThreadPlace } from "../threads/shared-session.ts";
import { sessionTurns } from "../turns/turns.ts";
import type { Run } from "./run.ts";

/**
 * The thread of a session. It is named by the caller, or is the default thread; within another program, a nested thread
 * replaces the default one.
 */
export interface Where {
  readonly threadId: string;
  readonly named: boolean;
  /** The runtime of that thread; for a nested thread, the runtime of its run. */
  readonly runtime: SessionRuntime;
}

/**
 * Returns the place of a call from within a run, or from outside: a thread that records it, or, for a run apart, the
 * memory that it sees.
 *
 * @throws ConfigurationError if the call would wait for itself
 */
export const placeOf = (
  session: SharedSession,
  { threadId, named, runtime }: Where,
  outer: Run | null,
): ThreadPlace | { readonly memory: Memory } => {
  const { lifespan = "persistent" } = session.options;
  if (lifespan === "stateless") return { memory: memoryOf([]) };
  if (outer === null || named) {
    if (outer?.ancestors.includes(threadId) === true) throw waitsForItself(session, threadId);
    return placeOn(runtime, runtime.host.thread(threadId));
  }
  if (lifespan === "shared") return { memory: outer.memory };
  if (outer.isWithin(session)) throw waitsForItself(session, threadId);
  return nested(session, outer, lifespan);
};

/**
 * Returns a thread under the outer run. A persistent session has one thread for all turns of the outer thread. An
 * episode has a thread for this run only, which begins with the consolidated memory of earlier episodes.
 */
const nested = (session: SharedSession, outer: Run, lifespan: "persistent" | "episodic"): ThreadPlace => {
  const isEpisode = lifespan === "episodic";
  const { turn, key } = outer;
  const runtime = session.runtime(outer.runtime);
  const thread = runtime.host.thread(threadIdUnder(isEpisode ? key : (turn?.threadId ?? key), session.name));
  const link = outer.linkOf(session.name);
  const { parentTurn: _, ...lasting } = link;
  const past = async (): Promise<string> =>
    isEpisode && turn !== null ? pastMemory(runtime.host, turn.threadId, link.node, turn.number) : "";
  if (isEpisode && session.options.consolidate !== undefined)
    outer.atEnd.set(thread.id, () => keep(session, thread, past));
  return {
    runtime,
    thread,
    parentCreatedAt: turn?.createdAt ?? null,
    beginning: async () => {
      const system = await past();
      return { metadata: { ...(isEpisode ? link : lasting), lifespan }, ...(system === "" ? {} : { system }) };
    },
  };
};

/** Escapes a text as one segment of a thread id, in which slashes separate nested threads. */
export const pathSegment = (text: string): string => text.replace(/[%/]/g, encodeURIComponent);

/** Returns the id of a session's thread under another one. */
export const threadIdUnder = (threadId: string, name: string): string => `${threadId}/${name}`;

/**
 * Returns the id of a user's thread. User ids come from outside. Escaping keeps them from naming a nested thread of
 * another user, whose id contains a slash.
 *
 * @throws ConfigurationError for an id that is not a text or is empty: all users without an id would share a thread.
 */
export const threadIdOfUser = (name: string, id: unknown): string => {
  if (typeof id === "string" && id !== "") return `${name}:${pathSegment(id)}`;
  throw new ConfigurationError(
    `user: the id is ${typeof id === "string" ? "empty" : `of type ${typeof id}`}; it must be a text that is not empty`,
  );
};

/** Consolidates an episode. If that fails, the answer is still returned, and the earlier memory is kept. */
const keep = async (session: SharedSession, thread: HostedThread, past: () => Promise<string>): Promise<void> => {
  try {
    const before = await past();
    const state = await thread.state();
    if (state === null) return;
    // Typed by the signature.
    const transcript = sessionTurns(state) as never;
    const memory = (await session.options.consolidate?.(before, transcript)) ?? before;
    await thread.setMetadata({ ...state.context.metadata, memory });
  } catch (thrown) {
    session.report(thrown, "consolidate");
  }
};

const waitsForItself = ({ name }: SharedSession, threadId: string): ConfigurationError =>
  new ConfigurationError(
    `the program "${name}" calls its own session on thread "${threadId}": it would wait for itself. Call it for another user, or give the inner one another name or the lifespan "stateless"`,
  );

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
