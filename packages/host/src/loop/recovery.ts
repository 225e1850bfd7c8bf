import type {
  AnswerableEffect,
  CallLlm,
  CallTool,
  LlmFailed,
  State,
  ThreadConfigured,
  ToolFailed,
  ToolWithheld,
} from "@colloquy/machine";
import { outstanding } from "@colloquy/machine";
import { configurationOfMachine } from "@colloquy/machine/hosting";
import type { RunContext } from "../context/host-context.ts";
import type { EventEnvelope } from "../mailbox/mailbox.ts";
import { withheldAfterCrash } from "./approvals.ts";
import type { LoopPort } from "./loop-port.ts";
import { perform } from "./perform.ts";
import { reportEffect } from "./report.ts";

/**
 * Takes up what a thread was doing when it was last put down: a model is called again, a timer is set again, a
 * tool is dealt with as it declared. The envelopes are what the machine has to handle before anything else.
 *
 * @throws SnapshotDamagedError
 */
export const recover = async (loop: LoopPort, state: State): Promise<readonly EventEnvelope[]> => {
  loop.asks.joinOpenTurn(state);
  const { host } = loop;
  const at = host.clock.now();
  const configured = changedConfiguration(host, state, at);
  const envelopes: EventEnvelope[] = configured === null ? [] : [{ event: configured, sender: null }];
  const effects = outstanding(state);
  // A turn whose time has passed ends at once: nothing more is begun for it.
  const overdue = effects.some(
    (effect) => effect.type === "startTimer" && effect.purpose === "deadline" && effect.dueAt <= at,
  );
  const undone: AnswerableEffect[] = [];
  for (const effect of effects) {
    if (overdue && isOfTurn(effect)) continue;
    const lost = await unlessStopped(loop, effect.id, lostAnswer(host, effect, state, at));
    if (loop.hasEnded) return [];
    if (lost === null) undone.push(effect);
    else envelopes.push({ event: lost, sender: null, recovered: true });
  }
  // What is asked about them takes its time, in which the thread may have been closed.
  if (loop.mayCall()) for (const effect of undone) performAgain(loop, effect);
  return envelopes;
};

/** A validator may never end; a thread that is closed does not wait for it. */
const unlessStopped = async <Answer>(
  { running }: LoopPort,
  effectId: string,
  answer: Answer | Promise<Answer>,
): Promise<Answer | null> => {
  const { promise, resolve } = Promise.withResolvers<null>();
  running.set(effectId, { stop: () => resolve(null) });
  try {
    return await Promise.race([answer, promise]);
  } finally {
    running.delete(effectId);
  }
};

/** Asks that were shown some of a reply are shown that it is void; the call then starts its step again. */
const performAgain = (loop: LoopPort, effect: AnswerableEffect): void => {
  if (effect.type === "callLlm" && effect.purpose === "answer") loop.asks.voidStep(effect.turn, effect.step);
  reportEffect(loop, effect);
  perform(loop, effect);
};

/** Summaries belong to no turn, and continue however one ends. */
const isOfTurn = (effect: AnswerableEffect): boolean =>
  effect.type === "callTool" ||
  effect.type === "checkOutput" ||
  (effect.type === "callLlm" && effect.purpose === "answer");

/** Notes that the machine is configured otherwise than the thread was; null where it is not. */
export const changedConfiguration = (
  { machine }: RunContext,
  { context }: State,
  at: number,
): ThreadConfigured | null => {
  const configuration = configurationOfMachine(machine);
  return configuration.fingerprint === context.configuration.fingerprint
    ? null
    : { type: "thread.configured", at, configuration };
};

/** The event in the place of an answer; null where the effect is performed, again or for the first time. */
export const lostAnswer = (
  host: RunContext,
  effect: AnswerableEffect,
  state: State,
  at: number,
): LlmFailed | ToolFailed | ToolWithheld | null | Promise<ToolFailed | ToolWithheld> => {
  if (effect.type === "callTool") return lostCall(host, effect, at);
  return effect.type === "callLlm" && host.partials === "keep" ? keptReply(effect, state, at) : null;
};

/** Ends the turn with the text that a model had written before the crash, if it was journalled. */
const keptReply = ({ id, purpose, promptDigest }: CallLlm, { context }: State, at: number): LlmFailed | null => {
  const stage = context.open?.stage;
  const partial = stage?.type === "responding" ? stage.call.partial : null;
  if (purpose !== "answer" || partial === null) return null;
  return {
    type: "llm.failed",
    at,
    effectId: id,
    failure: { kind: "truncated", message: replyInterrupted, retryable: false },
    partial,
    promptDigest,
  };
};

/** The event in the place of a tool's answer; null when the tool runs, again or for the first time. */
const lostCall = (
  { tools }: RunContext,
  call: CallTool,
  at: number,
): ToolFailed | null | Promise<ToolFailed | ToolWithheld> => {
  // No process ran it, so none has lost it.
  if (call.by === "caller") return null;
  const tool = tools.get(call.name);
  // It waits to be validated, and is not run before that.
  if (tool !== undefined && call.approval === "required") return null;
  const recovery = tool?.declaration.recovery ?? "interrupted";
  const startIsJournalled = recovery === "once" || recovery === "ask";
  if (recovery === "rerun" || (startIsJournalled && !call.started)) return null;
  const lost: ToolFailed = {
    type: "tool.failed",
    at,
    effectId: call.id,
    outcome: startIsJournalled ? "unknown" : "interrupted",
    content: startIsJournalled ? outcomeUnknown : interrupted,
  };
  return tool !== undefined && recovery === "ask" ? withheldAfterCrash(tool, call, at, lost) : lost;
};

const replyInterrupted =
  "the process that read the reply stopped before it was whole; what was journalled of it is kept";

const interrupted =
  "The call was interrupted: the process that ran it stopped before it answered. " +
  "Call the tool again if its result is still needed.";

const outcomeUnknown =
  "The call was started, and the process that ran it stopped before it answered: it may or may not have taken " +
  "effect. It was not run again. Find out what happened before repeating it.";
