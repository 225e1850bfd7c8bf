import type { Clock, LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import { type CallLlm, digestOfPrompt, type Message, messagesFromSeed, type SeedDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { virtualClock } from "../../src/ports/virtual-clock.ts";

/** Makes messages from drafts. */
export const messagesOf = (drafts: readonly SeedDraft[]): readonly Message[] => {
  const messages = messagesFromSeed(0, drafts);
  if (Either.isLeft(messages)) throw new Error(messages.left);
  return messages.right;
};

/** Makes a call with a prompt; a text becomes one user message. */
export const callOf = (prompt: string | readonly SeedDraft[], extra: Partial<CallLlm> = {}): CallLlm => {
  const messages = messagesOf(typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt);
  return {
    type: "callLlm",
    id: "thread/1.1#1",
    threadId: "thread",
    turn: 1,
    step: 1,
    attempt: 1,
    purpose: "answer",
    messages,
    promptDigest: digestOfPrompt(messages),
    model: {},
    ...extra,
  };
};

export interface Heard {
  readonly outcome: LlmOutcome;
  /** The pieces with their times, from 0. */
  readonly deltas: readonly (readonly [number, LlmDelta])[];
  readonly endedAt: number;
}

/** Calls a model on a clock that runs until the answer. */
export const hear = async (model: LlmHandler, call: CallLlm): Promise<Heard> => {
  const clock = virtualClock(0);
  const deltas: (readonly [number, LlmDelta])[] = [];
  const onDelta = (delta: LlmDelta): void => {
    deltas.push([clock.now(), delta]);
  };
  const outcome = await clock.runUntil(
    model(call, { signal: new AbortController().signal, onDelta, clock, tools: [] }),
  );
  return { outcome, deltas, endedAt: clock.now() };
};

/** Returns a model's context without a listener. */
export const unheard = (
  clock: Clock,
  signal: AbortSignal = new AbortController().signal,
): Parameters<LlmHandler>[1] => ({ signal, onDelta: () => undefined, clock, tools: [] });
