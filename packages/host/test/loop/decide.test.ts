// The decisions about envelopes, and which of them one write stores.
import { conversationMachine, type Entry, type Event, type Handled, outstanding, type State } from "@colloquy/machine";
import { declarationsOf } from "@colloquy/host";
import { expect, test } from "vitest";
import { LeaseLostError } from "../../src/ports/store.ts";
import { ThreadClosedError } from "../../src/boundary/errors.ts";
import {
  endedMeanwhile,
  hasPartial,
  notBefore,
  progressOf,
  stepOf,
  type Taken,
  takeTogether,
} from "../../src/loop/decide.ts";
import type { LeasedThread } from "../../src/loop/leased-thread.ts";
import { type Envelope, Mailbox } from "../../src/mailbox/mailbox.ts";
import { calls, held, plain, settle, stage, type StageOptions } from "../stage.ts";

const waiting = plain("wait", () => new Promise<never>(() => {}), { recovery: "once" });
const machine = conversationMachine({ tools: declarationsOf([waiting]), overlap: { type: "interrupt" } });

/** Returns the state of a thread after an ask, before its answer. */
const stateAfter = async (options: StageOptions): Promise<State> => {
  const states: State[] = [];
  const { host } = stage({
    tools: [waiting],
    machine: { overlap: { type: "interrupt" } },
    // A tool may not run before its start is stored.
    hooks: { beforeToolCall: () => new Promise<never>(() => {}) },
    observers: [{ entry: (_, __, { after }) => void states.push(after) }],
    ...options,
  });
  host.ask("go", { askId: "a" }).catch(() => {});
  await settle();
  const state = states.at(-1);
  if (state === undefined) throw new Error("no state");
  return state;
};

/** Returns a state with three calls of a tool, and the events that start or end them. */
const running = async () => {
  const state = await stateAfter({ script: [calls(["wait", {}], ["wait", {}], ["wait", {}])] });
  const ids = outstanding(state).flatMap(({ type, id }) => (type === "callTool" ? [id] : []));
  const completed = (index: number): Event => ({
    type: "tool.completed",
    at: 2_000_000,
    effectId: ids[index] ?? "",
    content: "done",
  });
  const started = (index: number): Event => ({ type: "tool.started", at: 2_000_000, effectId: ids[index] ?? "" });
  return { state, completed, started };
};

const handled = (state: State, event: Event): Handled => {
  const step = stepOf(machine, state, event, () => undefined);
  if (!step.handled) throw new Error(step.refusal.reason);
  return step;
};

const takenOf = (state: State, event: Event): Taken => ({
  envelope: { event, sender: null },
  step: handled(state, event),
});

test("an ask that waited is decided as of now, and any other event as of its own time", () => {
  const ask: Event = { type: "ask.received", at: 5, askId: "a", input: "hi" };
  expect(notBefore(ask, 6)).toEqual({ ...ask, at: 6 });
  expect(Object.isFrozen(notBefore(ask, 6))).toBe(true);
  expect([notBefore(ask, 5), notBefore(ask, 4)].map((each) => each === ask)).toEqual([true, true]);
  const cancel: Event = { type: "cancel.requested", at: 5 };
  expect(notBefore(cancel, 6)).toBe(cancel);
});

test("progress is marked if an earlier part of the reply is void", async () => {
  const partial = { content: "Hi" };
  const event = { type: "llm.progressed", at: 3, effectId: "e", partial };
  expect([progressOf("e", partial, 3, false), progressOf("e", partial, 3, true)]).toEqual([
    event,
    { ...event, again: true },
  ]);
});

test("a state has a part of a reply only while a model answers, and after progress", async () => {
  const state = await stateAfter({ script: [held().step] });
  const [call] = outstanding(state);
  expect([hasPartial(null), hasPartial(state)]).toEqual([false, false]);
  const { state: after } = handled(state, progressOf(call?.id ?? "", { content: "Hi" }, 2_000_000, false));
  expect(hasPartial(after)).toBe(true);
  expect(hasPartial((await running()).state)).toBe(false);
});

test.each<readonly [string, Event, string | undefined]>([
  ["of the turn", { type: "cancel.requested", at: 2_000_000 }, "Half"],
  ["of its only ask", { type: "cancel.requested", at: 2_000_000, askId: "a" }, "Half"],
  ["of another ask", { type: "cancel.requested", at: 2_000_000, askId: "b" }, undefined],
  ["that has a part of the reply", { type: "cancel.requested", at: 2_000_000, partial: { content: "Own" } }, "Own"],
])("a cancel %s is journalled with the part of the reply that was shown", async (_, event, content) => {
  const state = await stateAfter({ script: [held().step] });
  const step = stepOf(machine, state, event, () => ({ content: "Half" }));
  const partial = step.handled && step.entry.event.type === "cancel.requested" ? step.entry.event.partial : undefined;
  expect([step.handled, partial?.content]).toEqual([content !== undefined, content]);
});

test("an ask that interrupts a turn is journalled with the part of the reply that was shown, and another without", async () => {
  const state = await stateAfter({ script: [held().step] });
  const ask: Event = { type: "ask.received", at: 2_000_000, askId: "b", input: "stop" };
  const partialOf = (event: Event, shown: string | null): unknown => {
    const step = stepOf(machine, state, event, () => (shown === null ? undefined : { content: shown }));
    return step.handled && step.entry.event.type === "ask.received" ? step.entry.event.partial : "refused";
  };
  expect(partialOf(ask, "Half")).toEqual({ content: "Half" });
  expect(partialOf(ask, null)).toBeUndefined();
  expect(partialOf({ ...ask, partial: { content: "Own" } }, "Half")).toEqual({ content: "Own" });
  expect(partialOf({ ...ask, overlap: "queue" }, "Half")).toBeUndefined();
});

test("one write stores the tool events that wait together, up to the first of another kind", async () => {
  const { state, completed, started } = await running();
  const others: readonly Envelope[] = [
    { event: { type: "ask.received", at: 2_000_000, askId: "b", input: "hi" }, sender: null },
    { event: completed(2), sender: null, refusal: () => null },
    { task: () => {}, sender: null },
    // It was answered before.
    { event: completed(0), sender: null },
  ];
  for (const other of others) {
    const mailbox = new Mailbox();
    const next: Envelope = { event: started(1), sender: null };
    for (const envelope of [next, other, { event: completed(1), sender: null }]) mailbox.add(envelope);
    const taken = takeTogether(machine, mailbox, takenOf(state, completed(0)));
    expect(taken.map(({ step }) => step.entry.event)).toEqual([completed(0), started(1)]);
    expect(taken[1]?.envelope).toBe(next);
    expect([mailbox.size, mailbox.first]).toEqual([2, other]);
  }
  const all = new Mailbox();
  for (const index of [1, 2]) all.add({ event: completed(index), sender: null });
  const taken = takeTogether(machine, all, takenOf(state, completed(0)));
  expect([taken.length, all.size]).toEqual([3, 0]);
  const seqs = taken.map(({ step }) => step.entry.seq);
  expect(seqs.map((seq) => seq - (seqs[0] ?? 0))).toEqual([0, 1, 2]);
});

test("a host that is closed while the start of a tool is stored journals that the tool did not run", async () => {
  const { state, completed, started } = await running();
  const stored: Entry[] = [];
  // Nothing else of the thread is used.
  const leased = {
    held: { append: async (entries: readonly Entry[]) => void stored.push(...entries) },
  } as unknown as LeasedThread;
  const closed = new ThreadClosedError("default");
  const first = takenOf(state, completed(0));
  const taken = [first, takenOf(first.step.state, started(1))];
  expect(await endedMeanwhile(machine, leased, taken, closed)).toBe(closed);
  const content: unknown = expect.stringContaining("was not run");
  expect(stored).toMatchObject([
    {
      seq: (taken[1]?.step.entry.seq ?? 0) + 1,
      event: { type: "tool.failed", outcome: "interrupted", at: 2_000_000, content },
    },
  ]);
  stored.length = 0;
  const lost = new LeaseLostError({ threadId: "default", owner: "o", token: 1 });
  expect(await endedMeanwhile(machine, leased, taken, lost)).toBe(lost);
  expect(await endedMeanwhile(machine, null, taken, closed)).toBe(closed);
  expect(await endedMeanwhile(machine, leased, [], closed)).toBe(closed);
  const appended: unknown[] = [];
  // Nothing else of the thread is used.
  const noting = { held: { append: (entries: unknown) => void appended.push(entries) } } as unknown as LeasedThread;
  expect(await endedMeanwhile(machine, noting, [first], closed)).toBe(closed);
  expect([stored, appended]).toEqual([[], []]);
});
