import { type AskReceived, digestOf, type ForkOrigin } from "@colloquy/machine";
import type { AskOptions } from "../ask/ask-event.ts";
import type { Ask } from "../ask/ask.ts";
import { AskRefusedError, StoreError, ThreadExistsError } from "../boundary/errors.ts";
import { forkThread } from "./fork.ts";
import { look, type ThreadRef } from "./thread-ref.ts";

/**
 * Asks behind a turn of a thread; in a fork of it where the thread is busy, and where the ask was asked in one before.
 * Whatever goes wrong is what the ask fails with.
 *
 * @param post hands the ask to a thread.
 */
export const askOrFork = async (
  thread: ThreadRef,
  ask: Ask,
  event: AskReceived,
  post: (thread: ThreadRef) => void,
): Promise<void> => {
  const fork: ThreadRef = { ...thread, id: forkIdOf(thread.id, ask.askId) };
  const go = (where: ThreadRef, asked: AskReceived): void => {
    if (ask.settled) return;
    ask.event = asked;
    post(where);
  };
  const goTo = ({ turn }: ForkOrigin): void => {
    ask.push({ type: "thread.forked", threadId: fork.id, turn });
    go(fork, { ...event, from: turn });
  };
  await failing(ask, async () => {
    const origin = await originOf(thread, fork, ask);
    if (origin !== null) {
      ask.moveTo(fork.id);
      goTo(origin);
      return;
    }
    ask.whenBusy = () => {
      ask.moveTo(fork.id);
      void failing(ask, async () => goTo(await forked(thread, fork, ask, event.from ?? 0)));
    };
    go(thread, event);
  });
};

/** What is wrong with what an ask says of a busy thread, for callers in JavaScript; null when there is nothing to say. */
export const problemOfBusy = ({ whenBusy = "reject", from }: Pick<AskOptions, "whenBusy" | "from">): string | null => {
  if (whenBusy !== "reject" && whenBusy !== "fork")
    return `ask: whenBusy is ${JSON.stringify(whenBusy)}; it must be "reject" or "fork"`;
  return whenBusy === "fork" && from === undefined
    ? 'ask: whenBusy: "fork" needs from, the turn behind which the fork goes on'
    : null;
};

/** The same for the same ask, wherever and whenever it is asked. */
const forkIdOf = (threadId: string, askId: string): string => `fork-${digestOf([threadId, askId])}`;

/** Where the fork comes from; null where there is none. @throws AskRefusedError where another thread has its id */
const originOf = async (thread: ThreadRef, fork: ThreadRef, { askId }: Ask): Promise<ForkOrigin | null> => {
  const there = await look(fork, ({ context }) => ({ origin: context.forkedFrom }));
  if (there === null || there.origin?.threadId === thread.id) return there?.origin ?? null;
  const reason = `the fork of this ask would be thread "${fork.id}", which is another one; ask under another askId`;
  throw new AskRefusedError(thread.id, askId, { kind: "invalid", reason });
};

/** Makes the fork, where another process has not made it meanwhile. */
const forked = async (
  thread: ThreadRef,
  fork: ThreadRef,
  ask: Ask,
  from: NonNullable<AskReceived["from"]>,
): Promise<ForkOrigin> => {
  const turn = typeof from === "number" ? from : await turnAt(thread, from.checkpoint);
  try {
    await forkThread(thread, { turn, threadId: fork.id });
  } catch (thrown) {
    if (!(thrown instanceof ThreadExistsError)) throw thrown;
  }
  return (await originOf(thread, fork, ask)) ?? { threadId: thread.id, turn };
};

/** The machine knew the checkpoint when it said that the thread is busy. */
const turnAt = async (thread: ThreadRef, checkpoint: string): Promise<number> =>
  (await look(thread, ({ context }) => context.conversation.checkpoints[checkpoint])) ?? 0;

const failing = async (ask: Ask, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (thrown) {
    ask.fail(thrown instanceof Error ? thrown : new StoreError(ask.threadId, "fork", thrown));
  }
};
