import {
  conversationMachine,
  type Entry,
  type LaterEntry,
  type Message,
  outstanding,
  promptOf,
  type State,
  toArray,
  type Turn,
  turnNumbered,
} from "@colloquy/machine";
import { frozenCopy, turnOfEffect } from "@colloquy/machine/hosting";
import { foldVisiting, type JournalError } from "@colloquy/machine/journal";
import type { Policy } from "@colloquy/machine/policies";
import * as Either from "fp-ts/lib/Either.js";
import { type Memory, memoryAt, memoryOf } from "../program/memory.ts";

/** The prompt of the program's call in a turn. Frozen. */
export interface TurnPrompt {
  /** The whole prompt; its last message has the inputs. */
  readonly messages: readonly Message[];
  readonly memory: Memory;
}

/** The prompts of a journal's turns, whatever happened to the thread since. */
export interface TurnPrompts {
  /** The state at the end. */
  readonly state: State;
  /** Returns the prompt of a turn, by its number; null if its program was not called. */
  readonly of: (turn: number) => TurnPrompt | null;
  /** Returns whether content of a turn was redacted. */
  readonly isRedacted: (turn: Turn) => boolean;
}

/**
 * Reads the prompts of a journal, each as it was sent. A turn that was added by hand had no call: its prompt is that of
 * a call at that point, under the policy.
 *
 * @param most the largest number of exchanges that such a prompt shows; the newest are shown.
 */
export const promptsIn = (
  entries: readonly Entry[],
  policy: Policy,
  most: number,
): Either.Either<JournalError, TurnPrompts> => {
  const prompts = new Map<number, () => TurnPrompt>();
  const redacted = new Set<string | number>();
  const end = foldVisiting(entries, (entry, before, after) => {
    const { open, conversation } = after.context;
    const added = entry.event.type === "turn.added" ? conversation.turns.length : null;
    const turn = added === null ? undefined : turnNumbered(after, added);
    if (turn !== undefined) prompts.set(turn.number, () => promptOfAdded(turn, before, policy, most));
    if (entry.redacted === true) redacted.add(added ?? saidBy(entry));
    if (open === null || open.stage.type !== "responding" || prompts.has(open.number)) return;
    const call = outstanding(after).find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
    if (call?.type !== "callLlm") return;
    const { messages } = call;
    prompts.set(open.number, () => frozenCopy({ messages, memory: memoryAt(messages) }));
  });
  const isRedacted = ({ number, asks }: Turn): boolean =>
    redacted.has(number) || asks.some(({ askId }) => redacted.has(askId));
  return Either.map((state: State) => ({ state, of: (turn: number) => prompts.get(turn)?.() ?? null, isRedacted }))(
    end,
  );
};

const promptOfAdded = (turn: Turn, to: State, policy: Policy, most: number): TurnPrompt => {
  const { messages } = promptOf(conversationMachine({ policy, interrupted: "omit" }), to);
  const asked = toArray(turn.messages)
    .filter(({ role }) => role === "user")
    .slice(0, 1);
  return frozenCopy({ messages: [...messages, ...asked], memory: memoryOf(messages, most) });
};

/** Returns the ask of an entry, or the turn of its answer; 0 for an entry that belongs to no turn. */
const saidBy = ({ event }: LaterEntry): string | number => {
  if (event.type === "ask.received") return event.askId;
  return ("effectId" in event ? turnOfEffect(event.effectId) : null) ?? 0;
};
