// A custom host on a store: docs/conversation.md shows its loop, and a test kills it at each append and each effect.
import type { Store } from "@colloquy/host";
import type { DecideOptions, Performer, Performing } from "@colloquy/host/perform";
import {
  type AnswerableEffect,
  type Effect,
  type Event,
  outstanding,
  type ReplyDraft,
  type State,
} from "@colloquy/machine";
import { decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";

/** Opens a thread and continues what was under way in it. Returns null while another process holds its lease. */
export const openThread = async (store: Store, performer: Performer, threadId: string, owner: string) => {
  const lease = await store.acquire(threadId, owner, 30_000);
  if (lease === null) return null;
  let state = stateOf(await store.read(threadId));
  const running = new Map<string, Pick<Performing, "stop"> & Partial<Performing>>();

  /** Returns whether the event was taken. One that is late, repeated or out of place changes nothing. */
  const take = async (event: Event, recovered: boolean): Promise<boolean> => {
    const shown = (effectId: string) => running.get(effectId)?.shown ?? null;
    const decision = decide(performer, threadId, state, event, { at: performer.clock.now(), recovered }, shown);
    if (decision.type !== "handled") return false;
    await store.append(lease, state?.context.seq ?? -1, decision.entries); // first store,
    state = decision.state;
    for (const effect of decision.effects) perform(decision.state, effect); // then perform, without awaiting
    return true;
  };

  // Takes one event after the other. A failed append ends it, as its outcome is unknown: open the thread again.
  let taken: Promise<unknown> = Promise.resolve();
  const enqueue = (event: Event, recovered = false): Promise<boolean> => {
    const next = taken.then(() => take(event, recovered));
    taken = next;
    return next;
  };

  const fired = ({ id }: { readonly id: string }) =>
    ({ type: "timer.fired", effectId: id, at: performer.clock.now() }) as const;
  const perform = (now: State, effect: Effect): void => {
    switch (effect.type) {
      case "callLlm":
      case "callTool": // validates the arguments, and runs the tool unless a person must approve the call first
      case "checkOutput": {
        const performing = performer.begin(effect, now, () => {});
        running.set(effect.id, performing);
        answer(performing, enqueue)
          .finally(() => running.delete(effect.id))
          .catch(() => {}); // `taken` says why
        return;
      }
      case "startTimer": {
        const fire = () => void enqueue(fired(effect)).catch(() => {});
        running.set(effect.id, { stop: performer.clock.wakeAt(effect.dueAt, fire) });
        return;
      }
      case "cancelLlm":
      case "cancelCheck":
      case "cancelTool":
      case "cancelTimer":
        return running.get(effect.effectId)?.stop(null);
      // An approval is state: show it, and enqueue `approval.answered` in any process. Signals are for observers.
      default:
    }
  };

  // Repeats what an earlier process left undone, or answers it as the tool's recovery says. Overdue timers come first,
  // since a turn whose time is over repeats nothing.
  const undone = state === null ? [] : outstanding(state);
  for (const effect of undone.toSorted((one, other) => dueAt(one) - dueAt(other))) {
    if (state === null || !outstanding(state).some(({ id }) => id === effect.id)) continue;
    const lost = await performer.lost(effect, state);
    if (lost !== null) await enqueue(lost, true);
    else if (dueAt(effect) > performer.clock.now()) perform(state, effect);
    else await enqueue(fired(effect));
  }
  const close = (): Promise<void> => {
    for (const each of running.values()) each.stop(null);
    return store.release(lease);
  };
  return { enqueue, taken: () => taken, state: () => state, close };
};

/** Decides an event. If it cuts off a reply, decides again with the shown part of the reply. */
const decide = (
  performer: Performer,
  threadId: string,
  state: State | null,
  event: Event,
  how: DecideOptions,
  shown: (effectId: string) => ReplyDraft | null,
) => {
  const decision = performer.decide(threadId, state, event, how);
  if (decision.type !== "cutsOff") return decision;
  const { effectId } = decision;
  return performer.decide(threadId, state, event, { ...how, shown: { effectId, reply: shown(effectId) } });
};

const answer = async (performing: Performing, enqueue: (event: Event) => Promise<boolean>): Promise<void> => {
  let told = await performing.told;
  // The start of a tool that must not run twice is stored before it runs.
  if (told?.type === "tool.started") told = (await enqueue(told)) ? await performing.goOn() : null;
  if (told !== null) await enqueue(told);
};

/** Returns the due time of a timer, and Infinity for other effects. */
const dueAt = (effect: AnswerableEffect): number => (effect.type === "startTimer" ? effect.dueAt : Infinity);

const stateOf = (stored: readonly unknown[]): State | null => {
  if (stored.length === 0) return null;
  const entries = decodeJournal(stored);
  if ("left" in entries) throw new Error(describeDecodeError(entries.left));
  const folded = fold(entries.right);
  if ("left" in folded) throw new Error(folded.left.reason);
  return folded.right;
};
