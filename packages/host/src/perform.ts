import type {
  AnswerableEffect,
  CallTool,
  ConversationMachine,
  Event,
  JsonObject,
  State,
  ThreadStarted,
} from "@colloquy/machine";
import { withContext } from "./ask/asks.ts";
import { kinds, type OptionKinds } from "./boundary/option-kinds.ts";
import type { RunContext } from "./context/host-context.ts";
import {
  type DecideOptions,
  type Decision,
  decisionOf,
  type HandledDecision,
  reportDecision,
  type ShownPart,
} from "./loop/decision.ts";
import { lostAnswer } from "./loop/recovery.ts";
import { type AnswerEvent, type PerformableEffect, type Performing, SingleEffect } from "./loop/single-effect.ts";
import { mustBeJournalled } from "./loop/tool-run.ts";
import { runContextOf, type RunOptions, runOptionKinds } from "./options.ts";
import type { Clock } from "./ports/clock.ts";
import type { ToolContext } from "./tools/tool.ts";
import type { AskPart } from "./turn-log/parts.ts";

export type { DecideOptions, DecidedStep, Decision, HandledDecision, ShownReply } from "./loop/decision.ts";
export type { ShownPart } from "./loop/decision.ts";
export type { AnswerEvent, PerformableEffect, Performing } from "./loop/single-effect.ts";

/** The options of a performer: those of a host, without the ones for keeping threads. */
export interface PerformerOptions extends RunOptions {
  /**
   * Returns the context that every tool gets, by the thread of the call and its metadata. Never journalled. Default:
   * `{}`.
   */
  readonly toolContext?: (threadId: string, metadata: JsonObject) => ToolContext;
}

/**
 * Decides events and performs effects, one at a time. It is for an engine that stores the entries of threads and
 * ensures that every effect is performed. It keeps nothing of any thread: every method works on the state that it is
 * given.
 */
export interface Performer {
  readonly machine: ConversationMachine;
  readonly clock: Clock;
  /**
   * Decides an event just as a loop does: a thread starts with the first event that creates one. If the machine's
   * configuration differs from the thread's, `thread.configured` goes before the event. Pure. A refused event changes
   * nothing: then there are no entries at all, not even the first one of a thread.
   *
   * @param state null if the thread does not exist yet.
   * @throws SnapshotDamagedError if the state was read from a snapshot, and a needed chunk cannot be read.
   */
  decide(threadId: string, state: State | null, event: Event | ThreadStarted, how: DecideOptions): Decision;
  /**
   * Reports the entries of a decision to observers and `after` hooks, once they are stored. Returns the parts that they
   * show to the asks of the thread, in order, each with its turn.
   *
   * @param streamed whether deltas were shown of the reply in the event, as `Performing.shown` says; if not, the parts
   * have the whole reply.
   */
  report(threadId: string, decision: HandledDecision, streamed: boolean): readonly ShownPart[];
  /**
   * Starts an effect that the machine asked for, and its `before` hooks. A call that the caller answers starts nothing.
   *
   * @param state one in which the effect is outstanding
   * @param show is called with each part that asks are shown meanwhile, in order; must not throw
   */
  begin(effect: PerformableEffect, state: State, show: (turn: number, part: AskPart) => void): Performing;
  /** Returns the event to send, as `recovered`, for an answer that a crash lost. Null: perform the effect again. */
  lost(effect: AnswerableEffect, state: State): Promise<AnswerEvent | null>;
  /** Returns how often a tool call may be repeated. */
  repetitionOf(call: CallTool): Repetition;
}

/**
 * The repetition of a tool call. `rerun`: as often as need be. `told`: until its start is journalled, which it asks for
 * before it runs. `claimed`: never after it was started, since it runs without notice.
 */
export type Repetition = "rerun" | "told" | "claimed";

/**
 * Makes a performer: the part of a host that runs threads, for an engine that keeps them itself.
 *
 * @throws ConfigurationError when the tools are not those that the machine declares, or an option is invalid.
 */
export const performerOf = (options: PerformerOptions): Performer => {
  const host = runContextOf("performerOf", options, performerOptionKinds);
  const { machine, clock } = host;
  return {
    machine,
    clock,
    decide: (threadId, state, event, how) => decisionOf(host, threadId, state, event, how),
    report: (threadId, decision, streamed) => reportDecision(host, threadId, decision, streamed),
    begin: (effect, state, show) => new SingleEffect(inThread(host, options, state), effect, state, show),
    lost: async (effect, state) => lostAnswer(host, effect, state, clock.now()),
    repetitionOf: (call) => repetitionOf(host, call),
  };
};

/** Returns a context whose tool context is made when a tool is about to run. If that throws, the tool has failed. */
const inThread = (host: RunContext, { toolContext }: PerformerOptions, state: State): RunContext => ({
  ...host,
  get toolContext() {
    const { threadId, metadata } = state.context;
    return withContext(toolContext?.(threadId, metadata) ?? {}, undefined);
  },
});

const repetitionOf = ({ tools }: RunContext, call: CallTool): Repetition => {
  const tool = tools.get(call.name);
  // The call is refused, left to the caller, or withheld until it is approved: nothing runs.
  if (tool === undefined || call.by === "caller" || call.approval === "required") return "rerun";
  if (tool.declaration.recovery === "rerun") return "rerun";
  return mustBeJournalled(tool, call) ? "told" : "claimed";
};

const performerOptionKinds: OptionKinds<PerformerOptions> = { ...runOptionKinds, toolContext: kinds.call };
