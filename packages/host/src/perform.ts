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
import type { AskPart } from "./ask/parts.ts";
import type { OptionNames } from "./boundary/option-names.ts";
import type { RunContext } from "./context/host-context.ts";
import { type DecideOptions, type Decision, decisionOf, type HandledDecision } from "./loop/decision.ts";
import { lostAnswer } from "./loop/recovery.ts";
import { reportDecision, type ShownPart } from "./loop/report-decision.ts";
import { type AnswerEvent, type PerformableEffect, type Performing, SingleEffect } from "./loop/single-effect.ts";
import { mustBeJournalled } from "./loop/tool-run.ts";
import { type HostOptions, runContextOf } from "./options.ts";
import type { Clock } from "./ports/clock.ts";
import type { ToolContext } from "./tools/tool.ts";

export type { DecideOptions, DecidedStep, Decision, HandledDecision, ShownReply } from "./loop/decision.ts";
export type { ShownPart } from "./loop/report-decision.ts";
export type { AnswerEvent, PerformableEffect, Performing } from "./loop/single-effect.ts";

/** What a performer is made from: as a host, without what keeps threads. */
export interface PerformerOptions extends Pick<
  HostOptions,
  | "machine"
  | "llm"
  | "clock"
  | "tools"
  | "thread"
  | "hooks"
  | "observers"
  | "onObserverError"
  | "describeThrown"
  | "secrets"
> {
  /** How many model calls are made at a time; others wait, those that go on after tools first. Default 256. */
  readonly maxActive?: number;
  /** What every tool gets, by the thread that it is called in and the metadata of that. Never journalled. Default: `{}`. */
  readonly toolContext?: (threadId: string, metadata: JsonObject) => ToolContext;
}

/**
 * Decides events and performs effects, one at a time, for an engine that stores the entries of threads and sees to it that
 * every effect is performed. It keeps nothing of any thread: all that it is asked is answered from the state that it is given.
 */
export interface Performer {
  readonly machine: ConversationMachine;
  readonly clock: Clock;
  /**
   * What an event comes to, just as a loop decides it: a thread begins with the first event that makes one; where the machine is
   * configured otherwise than the thread was, `thread.configured` goes before the event. Pure. Refused, it changes nothing:
   * there are no entries then, not even the first one of a thread.
   *
   * @param state null: the thread is not there yet.
   * @throws SnapshotDamagedError where the state was read from a snapshot, and a part that is needed can't be read.
   */
  decide(threadId: string, state: State | null, event: Event | ThreadStarted, how: DecideOptions): Decision;
  /**
   * Reports the entries of a decision, once they are stored, to observers and `after` hooks. Gives the parts that the asks of
   * the thread are shown by them, in order, each with its turn.
   *
   * @param streamed whether deltas of the reply were shown that the event brings, as `Performing.shown` says; else the parts have it whole.
   */
  report(threadId: string, decision: HandledDecision, streamed: boolean): readonly ShownPart[];
  /**
   * Begins an effect that the machine asked for, and its `before` hooks. Nothing is begun for a call that the caller answers.
   *
   * @param state one in which the effect is outstanding
   * @param show gets what asks are shown of it meanwhile, in order; must not throw
   */
  begin(effect: PerformableEffect, state: State, show: (turn: number, part: AskPart) => void): Performing;
  /**
   * What the machine is to be told, as `recovered`, in the place of the answer of an effect whose process is gone; null where
   * the effect is to be performed again, from its beginning.
   */
  lost(effect: AnswerableEffect, state: State): Promise<AnswerEvent | null>;
  /** How a tool call may be repeated. */
  repetitionOf(call: CallTool): Repetition;
}

/**
 * `rerun`: as often as need be. `told`: until its start is journalled, which it asks for before it runs. `claimed`: never,
 * once it was begun: it runs without notice.
 */
export type Repetition = "rerun" | "told" | "claimed";

/**
 * Makes a performer: what a host runs its threads with, for an engine that keeps them itself.
 *
 * @throws ConfigurationError when the tools are not those that the machine declares, or an option is invalid.
 */
export const performerOf = (options: PerformerOptions): Performer => {
  const host = runContextOf("performerOf", options, performerOptionNames);
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

/** The tool context is made when a tool is about to run: where that throws, the tool has failed. */
const inThread = (host: RunContext, { toolContext }: PerformerOptions, state: State): RunContext => ({
  ...host,
  get toolContext() {
    const { threadId, metadata } = state.context;
    return withContext(toolContext?.(threadId, metadata) ?? {}, undefined);
  },
});

const repetitionOf = ({ tools }: RunContext, call: CallTool): Repetition => {
  const tool = tools.get(call.name);
  // It is refused, or left to the caller, or withheld until it is approved: nothing runs.
  if (tool === undefined || call.by === "caller" || call.approval === "required") return "rerun";
  if (tool.declaration.recovery === "rerun") return "rerun";
  return mustBeJournalled(tool, call) ? "told" : "claimed";
};

const performerOptionNames: OptionNames<PerformerOptions> = {
  machine: "required",
  llm: "required",
  clock: "required",
  tools: true,
  toolContext: true,
  thread: true,
  hooks: true,
  observers: true,
  onObserverError: true,
  describeThrown: true,
  secrets: true,
  maxActive: true,
};
