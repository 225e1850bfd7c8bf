import { type AskReceived, digestOf, type ForkOrigin } from "@colloquy/machine";
import type { AskOptions } from "../ask/ask-event.ts";
import type { Ask } from "../ask/ask.ts";
import { AskRefusedError, StoreError, ThreadExistsError } from "../boundary/errors.ts";
import { forkThread } from "./fork.ts";
import { look, type ThreadRef } from "./thread-ref.ts";

/**
 * Asks after a turn of a thread. If the thread is busy, or the ask was made in a fork before, asks in the fork. On any
 * error the ask fails.
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
    ask.parts.push({ type: "thread.forked", threadId: fork.id, turn });
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

/** Returns why an ask's options for a busy thread are invalid, for callers in JavaScript; null if they are valid. */
export const problemOfBusy = ({ whenBusy = "reject", from }: Pick<AskOptions, "whenBusy" | "from">): string | null => {
  return whenBusy === "fork" && from === undefined
    ? 'ask: whenBusy: "fork" needs from, the turn behind which the fork goes on'
    : null;
};

/** Returns the id of an ask's fork: the same for the same ask, in every process and at any time. */
const forkIdOf = (threadId: string, askId: string): string => `fork-${digestOf([threadId, askId])}`;

/** Returns the origin of the fork; null if it does not exist. @throws AskRefusedError if another thread has its id */
const originOf = async (thread: ThreadRef, fork: ThreadRef, { askId }: Ask): Promise<ForkOrigin | null> => {
  const there = await look(fork, ({ context }) => ({ origin: context.forkedFrom }));
  if (there === null || there.origin?.threadId === thread.id) return there?.origin ?? null;
  const reason = `the fork of this ask would be thread "${fork.id}", which is another one; ask under another askId`;
  throw new AskRefusedError(thread.id, askId, { kind: "invalid", reason });
};

/** Makes the fork, unless another process has made it meanwhile. */
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

/** Returns the turn of a checkpoint. The machine knew the checkpoint when it refused the ask as busy. */
const turnAt = async (thread: ThreadRef, checkpoint: string): Promise<number> =>
  (await look(thread, ({ context }) => context.conversation.checkpoints[checkpoint])) ?? 0;

const failing = async (ask: Ask, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (thrown) {
    ask.fail(thrown instanceof Error ? thrown : new StoreError(ask.threadId, "fork", thrown));
  }
};
