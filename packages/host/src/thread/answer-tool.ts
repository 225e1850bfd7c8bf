import {
  callsToAnswer,
  type Content,
  type Message,
  messageFromResult,
  outstanding,
  type Refusal,
  type State,
  toArray,
  toolCallsOf,
  type ToolFailed,
  toolResultOf,
  turnNumbered,
  approvalsOf,
  ConfigurationError,
} from "@colloquy/machine";
import { redactedText } from "@colloquy/machine/storage";
import { EventRefusedError, ThreadUnknownError } from "../boundary/errors.ts";
import { kinds, type OptionKinds } from "../boundary/option-kinds.ts";
import { isRecord, messageOf } from "../boundary/thrown.ts";
import { type AsksUnderWay, asksUnderWay, handlesTo, type Resumed, asksOfEffect } from "./resume.ts";
import { currentLoop, look, submit, type ThreadRef, checkOptions } from "./thread-ref.ts";

/** The caller's answer to a call: a text, parts, null for an empty result, or the reason of a failure. */
export type ToolAnswer = Content | null | { readonly failed: Content };

/** Answers a waiting call of the caller's by its `callId`. A repeated answer changes nothing. */
export const answerTool = async (thread: ThreadRef, callId: string, given: ToolAnswer): Promise<Resumed> => {
  const answer = answerIn(thread, given);
  const seen = await seenCall(thread, callId, answer);
  if (seen === null) throw new ThreadUnknownError(thread.id);
  if (seen.refusal !== null) throw new EventRefusedError(thread.id, seen.refusal);
  // Made before the thread continues, so that they are shown all of it.
  const resumed = handlesTo(thread, seen.underWay);
  if (seen.effectId === null) return resumed;
  try {
    await submit(thread, eventOf(seen.effectId, answer));
  } catch (thrown) {
    if (!(thrown instanceof EventRefusedError) || thrown.refusal.kind !== "stale") throw thrown;
    // It was answered, or settled, in the meantime.
    const now = await seenCall(thread, callId, answer);
    if (now === null || now.refusal !== null) throw new EventRefusedError(thread.id, now?.refusal ?? thrown.refusal);
  }
  return resumed;
};

/** Looks up a call. One whose append is still in progress is only known to the open loop. */
const seenCall = async (thread: ThreadRef, callId: string, answer: Answer): Promise<AnsweredCall | null> => {
  const see = (state: State): AnsweredCall => callIn(state, callId, answer);
  const seen = await look(thread, see);
  const loop = currentLoop(thread);
  return seen?.refusal?.kind === "unknown" && loop !== undefined && loop.state !== null ? loop.run(see) : seen;
};

interface Answer {
  readonly outcome: "completed" | "failed";
  readonly content: Content | null;
}

const eventOf = (effectId: string, { outcome, content }: Answer) =>
  outcome === "completed"
    ? ({ type: "tool.completed", effectId, content } as const)
    : ({ type: "tool.failed", effectId, outcome, content: content ?? "" } satisfies Omit<ToolFailed, "at">);

/** Reads an answer. Callers in JavaScript may pass any value; parts are checked with the event that they become. */
const answerIn = ({ id }: ThreadRef, given: ToolAnswer): Answer => {
  const failed = isRecord(given) && !Array.isArray(given) ? given["failed"] : undefined;
  const answer: Answer =
    failed === undefined
      ? { outcome: "completed", content: given as Content | null }
      : { outcome: "failed", content: typeof failed === "string" ? messageOf(failed) : failed };
  if (typeof answer.content === "string" || Array.isArray(answer.content)) return answer;
  if (answer.content === null && answer.outcome === "completed") return answer;
  const reason =
    "the answer to a tool call is a text, a list of content parts, null for an empty result, or { failed } with a text or parts; write data as JSON";
  throw new EventRefusedError(id, { kind: "invalid", reason });
};

/** A call in a thread, as an answer to it finds it. */
interface AnsweredCall {
  /** The effect to answer; null if the call already has this same answer, or takes none. */
  readonly effectId: string | null;
  readonly refusal: Refusal | null;
  readonly underWay: AsksUnderWay;
}

const callIn = (state: State, callId: string, answer: Answer): AnsweredCall => {
  const under = asksUnderWay(state);
  const turn = Number.parseInt(callId, 10);
  const own = turn === state.context.open?.number ? state.context.open : turnNumbered(state, turn);
  const underWay = { ...under, turn: own?.asks[0]?.askId ?? null };
  const waiting = callsToAnswer(state);
  const call = waiting.find((each) => each.callId === callId);
  if (call !== undefined) return { effectId: call.id, refusal: null, underWay };
  return { effectId: null, refusal: refusalOf(state, callId, answer), underWay };
};

/** Returns why a call takes no answer; null if it already has this one. */
const refusalOf = (state: State, callId: string, answer: Answer): Refusal | null => {
  const waiting = callsToAnswer(state).map((call) => call.callId);
  const others = `waiting are: ${waiting.join(", ") || "none"}`;
  const here = outstanding(state).find((effect) => "callId" in effect && effect.callId === callId);
  if (here !== undefined && "name" in here)
    return {
      kind: "invalid",
      reason: `tool "${here.name}" is the host's, which runs call ${callId} itself; ${others}`,
    };
  const messages = messagesOfTurn(state, Number.parseInt(callId, 10));
  const result = messages.find((message) => toolResultOf(message)?.callId === callId);
  if (result === undefined)
    return { kind: "unknown", reason: `there is no tool call ${callId} in the thread; ${others}` };
  if (saysTheSame(result, messages, callId, answer)) return null;
  const outcome = toolResultOf(result)?.outcome ?? "unknown";
  const reason =
    result.synthesised === true
      ? `call ${callId} waits no longer: it was settled as ${outcome} when its turn stopped`
      : `call ${callId} was answered before (${outcome}), and differently: its first answer stands`;
  return { kind: "stale", reason };
};

/** Returns whether a call already has this same answer. If its words were redacted, that is assumed. */
const saysTheSame = (
  result: Message,
  messages: readonly Message[],
  callId: string,
  { outcome, content }: Answer,
): boolean => {
  const known = toolResultOf(result);
  if (known?.outcome !== outcome || result.synthesised === true) return false;
  if (known.content.some((part) => part.type === "text" && part.text === redactedText)) return true;
  const call = messages.flatMap(toolCallsOf).find((each) => each.callId === callId);
  return call !== undefined && messageFromResult(call, outcome, content).digest === result.digest;
};

/** Returns the messages of a closed or open turn, including the results of its present round. */
const messagesOfTurn = (state: State, number: number): readonly Message[] => {
  const { open } = state.context;
  if (open?.number !== number) {
    const turn = turnNumbered(state, number);
    return turn === undefined ? [] : toArray(turn.messages);
  }
  const results = open.stage.type === "running" ? open.stage.calls.flatMap(({ result }) => result ?? []) : [];
  return [...toArray(open.messages), ...results];
};

/** The options of an approval. */
export interface ApproveOptions {
  /** The person who approves; only recorded. */
  readonly by?: string;
  /** The digest of the request that the person saw. An answer to any other request is refused. */
  readonly digest?: string;
}

/** The options of a denial. */
export interface DenyOptions extends ApproveOptions {
  /** The reason that the model reads. */
  readonly reason?: string;
}

const noRequest: Refusal = { kind: "invalid", reason: "a request has a text as its id; give one of approvals()" };

/** Approves a tool call by its request's id. @throws ConfigurationError when this host has no such tool */
export const approve = async (thread: ThreadRef, id: string, options: ApproveOptions): Promise<Resumed> => {
  checkOptions(thread, "approve", options, approveOptionKinds);
  return answer(thread, id, true, options);
};

/** Denies a tool call, so that it does not run. */
export const deny = async (thread: ThreadRef, id: string, options: DenyOptions): Promise<Resumed> => {
  checkOptions(thread, "deny", options, denyOptionKinds);
  return answer(thread, id, false, options);
};

const answer = async (
  thread: ThreadRef,
  effectId: string,
  approved: boolean,
  { by, digest, reason }: DenyOptions,
): Promise<Resumed> => {
  // Callers in JavaScript may pass any value.
  if (typeof effectId !== "string") throw new EventRefusedError(thread.id, noRequest);
  const asked = (state: State) => ({
    name: approvalsOf(state).find(({ id }) => id === effectId)?.name,
    underWay: asksOfEffect(state, effectId),
  });
  const state = currentLoop(thread)?.state ?? null;
  // If the thread is open here, no event that is sent later comes before the answer.
  const seen = state === null ? await look(thread, asked) : asked(state);
  const name = approved ? seen?.name : undefined;
  // An engine has its own tools.
  if (name !== undefined && thread.host.store.engine === undefined && !thread.host.tools.has(name))
    throw new ConfigurationError(
      `this host has no tool "${name}": answer on a host that has it, since the host that answers goes on with the thread`,
    );
  // Made before the thread continues, so that they are shown all of it.
  const resumed = handlesTo(thread, seen?.underWay ?? null);
  await submit(thread, { type: "approval.answered", effectId, approved, digest, reason, by });
  return resumed;
};

const approveOptionKinds: OptionKinds<ApproveOptions> = { by: kinds.anything, digest: kinds.anything };

const denyOptionKinds: OptionKinds<DenyOptions> = { ...approveOptionKinds, reason: kinds.anything };
