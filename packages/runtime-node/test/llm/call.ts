import type { Clock, LlmContext, LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import { type CallLlm, type Message, messageFromDraft } from "@colloquy/machine";
import { openaiChat } from "../../src/llm/openai.ts";
import { type Answer, chatServer } from "./server.ts";

const question: readonly Message[] = [messageFromDraft("1.0", { role: "user", content: "why?" })];

export const callOf = (fields: Partial<CallLlm> = {}): CallLlm => ({
  type: "callLlm",
  id: "thread/1.1#1",
  threadId: "thread",
  turn: 1,
  step: 1,
  attempt: 1,
  purpose: "answer",
  messages: question,
  promptDigest: "digest",
  model: {},
  ...fields,
});

/** A clock that the test moves. */
export interface TestClock extends Clock {
  readonly advance: (ms: number) => void;
  /** Returns the number of waiting callbacks. */
  readonly waiting: () => number;
}

export const testClock = (startAt = 0): TestClock => {
  let now = startAt;
  const timers = new Set<{ readonly dueAt: number; readonly callback: () => void }>();
  return {
    now: () => now,
    wakeAt: (dueAt, callback) => {
      const timer = { dueAt, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: (ms) => {
      now += ms;
      for (const timer of Array.from(timers)) {
        if (timer.dueAt <= now && timers.delete(timer)) timer.callback();
      }
    },
    waiting: () => timers.size,
  };
};

export const handlerFor = (baseURL: string): LlmHandler =>
  openaiChat({ baseURL, apiKey: "sk-test-key-0123456789", tools: [] });

/** Returns the outcome of a call to a server with this answer. */
export const outcomeOf = async (answer: Answer): Promise<LlmOutcome> =>
  perform(handlerFor((await chatServer(answer)).baseURL)).outcome;

/** A call under way, with its deltas so far. */
export interface Performance {
  readonly outcome: Promise<LlmOutcome>;
  readonly deltas: readonly LlmDelta[];
  readonly clock: TestClock;
  readonly control: AbortController;
  /** Resolves after `count` deltas. */
  readonly told: (count: number) => Promise<void>;
}

export const perform = (handler: LlmHandler, call: CallLlm = callOf(), clock: TestClock = testClock()): Performance => {
  const deltas: LlmDelta[] = [];
  const control = new AbortController();
  const listeners: (() => void)[] = [];
  const onDelta: LlmContext["onDelta"] = (delta) => {
    deltas.push(delta);
    for (const listener of listeners.splice(0)) listener();
  };
  const told = async (count: number): Promise<void> => {
    while (deltas.length < count) await new Promise<void>((resolve) => listeners.push(resolve));
  };
  return {
    outcome: handler(call, { signal: control.signal, onDelta, clock, tools: [] }),
    deltas,
    clock,
    control,
    told,
  };
};
