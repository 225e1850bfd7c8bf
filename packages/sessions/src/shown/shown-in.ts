import {
  type Entry,
  type LaterEntry,
  type Message,
  outstanding,
  type State,
  toArray,
  type Turn,
  turnNumbered,
} from "@colloquy/machine";
import { turnOfEffect } from "@colloquy/machine/hosting";
import { fold, foldEntry, type JournalError } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";

/** The content of a journal's turns, whatever happened to the thread since. */
export interface ShownTurns {
  /** The state at the end. */
  readonly state: State;
  /** The messages from which each turn was answered, by its number. */
  readonly shown: ReadonlyMap<number, Shown>;
  /** Returns whether content of a turn was redacted. */
  readonly isRedacted: (turn: Turn) => boolean;
}

/**
 * The messages of the program's call, of which the last has its inputs. A turn that was added by hand had no call: then
 * its own messages, and the state that it was added to.
 */
export type Shown =
  | { readonly type: "called"; readonly messages: readonly Message[] }
  | { readonly type: "added"; readonly messages: readonly Message[]; readonly to: State };

/** Returns the messages from which each turn of a journal was answered. It needs no configuration, past or present. */
export const shownIn = (entries: readonly Entry[]): Either.Either<JournalError, ShownTurns> => {
  const begun = fold(entries.slice(0, 1));
  if (Either.isLeft(begun)) return begun;
  const shown = new Map<number, Shown>();
  const redacted = new Set<string | number>();
  let state = begun.right;
  for (const entry of entries.filter(isLater)) {
    const before = state;
    state = foldEntry(before, entry);
    const { open, conversation } = state.context;
    const added = entry.event.type === "turn.added" ? conversation.turns.length : null;
    const turn = added === null ? undefined : turnNumbered(state, added);
    if (turn !== undefined) shown.set(turn.number, { type: "added", messages: toArray(turn.messages), to: before });
    if (entry.redacted === true) redacted.add(added ?? saidBy(entry));
    if (open === null || open.stage.type !== "responding" || shown.has(open.number)) continue;
    const call = outstanding(state).find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
    if (call?.type === "callLlm") shown.set(open.number, { type: "called", messages: call.messages });
  }
  const isRedacted = ({ number, asks }: Turn): boolean =>
    redacted.has(number) || asks.some(({ askId }) => redacted.has(askId));
  return Either.right({ state, shown, isRedacted });
};

/** Returns the ask of an entry, or the turn of its answer; 0 for an entry that belongs to no turn. */
const saidBy = ({ event }: LaterEntry): string | number => {
  if (event.type === "ask.received") return event.askId;
  return ("effectId" in event ? turnOfEffect(event.effectId) : null) ?? 0;
};

const isLater = (entry: Entry): entry is LaterEntry => entry.event.type !== "thread.started";
