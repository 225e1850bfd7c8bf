import type { HostedThread } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import type { SessionCore } from "../core/core.ts";
import type { Beginning } from "../core/earlier-parent.ts";
import type { Ground } from "../core/ground.ts";
import { consolidated, pastMemory } from "../nesting/episodes.ts";
import type { Frame } from "../nesting/frame.ts";
import { type Memory, memoryOf } from "../program/memory.ts";

/**
 * The thread of a session. It is named by the caller, or is the default thread; within another program, a nested thread
 * replaces the default one.
 */
export interface Where {
  readonly threadId: string;
  readonly named: boolean;
}

/** The place of a call: a thread that records it, or a run apart with the memory that it sees. */
export type CallPlace = ThreadPlace | { readonly memory: Memory };

export interface ThreadPlace extends Beginning {
  readonly ground: Ground;
  readonly thread: HostedThread;
}

/**
 * Returns the place of a call from within a run, or from outside.
 *
 * @throws ConfigurationError if the call would wait for itself
 */
export const placeOf = (core: SessionCore, where: Where, outer: Frame | null): CallPlace => {
  const { lifespan = "persistent" } = core.options;
  if (lifespan === "stateless") return { memory: memoryOf([]) };
  if (outer === null || where.named) return named(core, where.threadId, outer);
  if (lifespan === "shared") return { memory: outer.memory };
  if (outer.isWithin(core)) throw waitsForItself(core, where.threadId);
  return lifespan === "episodic" ? episode(core, outer) : persistent(core, outer);
};

const named = (core: SessionCore, threadId: string, outer: Frame | null): ThreadPlace => {
  if (outer?.ancestors.includes(threadId) === true) throw waitsForItself(core, threadId);
  const ground = core.ground();
  return {
    ground,
    thread: ground.host.thread(threadId),
    parentCreatedAt: null,
    beginning: async () => ({ metadata: {} }),
  };
};

/** Returns one thread under the outer run's thread, for all of its turns. */
const persistent = (core: SessionCore, outer: Frame): ThreadPlace => {
  const ground = core.ground(outer.ground);
  const { parentTurn: _, ...hanging } = outer.hanging(core.name);
  return {
    ground,
    thread: ground.host.thread(threadIdUnder(outer.turn?.threadId ?? outer.key, core.name)),
    parentCreatedAt: outer.turn?.createdAt ?? null,
    beginning: async () => ({ metadata: { ...hanging, lifespan: "persistent" } }),
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

/** Returns a thread for this run only, which begins with the consolidated memory of earlier episodes. */
const episode = (core: SessionCore, outer: Frame): ThreadPlace => {
  const ground = core.ground(outer.ground);
  const thread = ground.host.thread(threadIdUnder(outer.key, core.name));
  const hanging = outer.hanging(core.name);
  const past = async (): Promise<string> =>
    outer.turn === null
      ? ""
      : pastMemory(ground.host, { threadId: outer.turn.threadId, node: hanging.node }, outer.turn.number);
  const { options } = core;
  if (options.consolidate !== undefined) outer.atEnd.set(thread.id, () => keep(core, thread, past));
  return {
    ground,
    thread,
    parentCreatedAt: outer.turn?.createdAt ?? null,
    beginning: async () => {
      const system = await past();
      return { metadata: { ...hanging, lifespan: "episodic" }, ...(system === "" ? {} : { system }) };
    },
  };
};

/** Consolidates an episode. If that fails, the answer is still returned, and the earlier memory is kept. */
const keep = async (core: SessionCore, thread: HostedThread, past: () => Promise<string>): Promise<void> => {
  try {
    const before = await past();
    // Typed by the signature.
    await consolidated(thread, async (turns) => (await core.options.consolidate?.(before, turns as never)) ?? before);
  } catch (thrown) {
    core.report(thrown, "consolidate");
  }
};

const waitsForItself = ({ name }: SessionCore, threadId: string): ConfigurationError =>
  new ConfigurationError(
    `the program "${name}" calls its own session on thread "${threadId}": it would wait for itself. Call it for another user, or give the inner one another name or the lifespan "stateless"`,
  );
