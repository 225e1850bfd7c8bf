import type { State, Turn } from "@colloquy/machine";
import type { Move } from "@colloquy/machine/hosting";
import { loadMessages } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { EventRefusedError } from "../boundary/errors.ts";
import { deliver, look, type ThreadRef } from "./thread-ref.ts";

/** A name for a place in the conversation. */
export interface Checkpoint {
  readonly name: string;
  /** The turn before the place; 0 for the beginning. */
  readonly turn: number;
}

/** Moves the head back or forth by some turns, and returns these. The target is decided in its turn. */
export const moveBy = async (
  thread: ThreadRef,
  steps: number,
  targetOf: (state: State, steps: number) => Move,
): Promise<readonly Turn[]> => {
  if (!(Number.isSafeInteger(steps) && steps >= 0))
    throw new RangeError(`steps is ${steps}; it must be a whole number, 0 or more`);
  let turns: readonly Turn[] = [];
  const receipt = await deliver(thread, {
    make: (state) => {
      const target = targetOf(state, steps);
      turns = target.turns.map((turn) => loadMessages(turn));
      return turns.length > 0
        ? Either.right({ type: "head.moved", at: thread.host.clock.now(), to: target.head })
        : Either.left({ kind: "stale", reason: "nowhere to go" });
    },
  });
  if (receipt.handled || turns.length === 0) return turns;
  throw new EventRefusedError(thread.id, receipt.refusal);
};

export const checkpointsOf = async (thread: ThreadRef): Promise<readonly Checkpoint[]> => {
  const named = await look(thread, ({ context }) => Object.entries(context.conversation.checkpoints));
  return (named ?? []).map(([name, turn]) => ({ name, turn }));
};
