import type { HostedThread } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import type { SessionCore } from "../core/core.ts";
import type { Beginning } from "../core/earlier-parent.ts";
import type { Ground } from "../core/ground.ts";
import { consolidated, pastMemory } from "../nesting/episodes.ts";
import type { Frame } from "../nesting/frame.ts";
import { type Memory, memoryOf } from "../program/memory.ts";

/** A thread of a session: one that was named, or the default one, in whose place another program has threads of its own. */
export interface Where {
  readonly threadId: string;
  readonly named: boolean;
}

/** Where a call is made: on a thread that remembers it, or apart, with what is shown to it. */
export type CallPlace = ThreadPlace | { readonly memory: Memory };

export interface ThreadPlace extends Beginning {
  readonly ground: Ground;
  readonly thread: HostedThread;
}

/**
 * Where a session is called from within a run, or from outside.
 *
 * @throws ConfigurationError where the call would wait for itself
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

/** One thread under that of the run, for all of its turns. */
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

/** A text of any kind as one segment of the path that an id is: nested threads lie behind slashes. */
export const pathSegment = (text: string): string => text.replace(/[%/]/g, encodeURIComponent);

/** The thread of a session under another one. */
export const threadIdUnder = (threadId: string, name: string): string => `${threadId}/${name}`;

/**
 * The thread of a user of a session. The ids of users come from outside, and none of them may name the thread of a program
 * that another user's turn calls, which has a slash.
 *
 * @throws ConfigurationError for what is no text, or an empty one: all whose id is missing would share a thread.
 */
export const threadIdOfUser = (name: string, id: unknown): string => {
  if (typeof id === "string" && id !== "") return `${name}:${pathSegment(id)}`;
  throw new ConfigurationError(
    `user: the id is ${typeof id === "string" ? "empty" : `of type ${typeof id}`}; it must be a text that is not empty`,
  );
};

/** A thread for this run alone, which begins with what was kept of those before. */
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

/** What fails here costs no answer: what was kept before is kept. */
const keep = async (core: SessionCore, thread: HostedThread, past: () => Promise<string>): Promise<void> => {
  try {
    const before = await past();
    // As its signature has them.
    await consolidated(thread, async (turns) => (await core.options.consolidate?.(before, turns as never)) ?? before);
  } catch (thrown) {
    core.report(thrown, "consolidate");
  }
};

const waitsForItself = ({ name }: SessionCore, threadId: string): ConfigurationError =>
  new ConfigurationError(
    `the program "${name}" calls its own session on thread "${threadId}": it would wait for itself. Call it for another user, or give the inner one another name or the lifespan "stateless"`,
  );
