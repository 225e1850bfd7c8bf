import { at, toArray } from "../../thread/chunks.ts";
import { digestOf, digestOfPrompt } from "../../thread/make-message.ts";
import { textOf } from "../../thread/message.ts";
import { type Prompts, promptsAnew } from "../../prompt/prompts.ts";
import { summaryRequest } from "../../prompt/summary-request.ts";
import type {
  Approvable,
  ConversationData,
  OpenTurn,
  OutstandingCall,
  RoundCall,
  Summarising,
  Waking,
} from "../protocol/data.ts";
import type { CallLlm, CallTool, CheckOutput, RequestApproval, StartTimer } from "../protocol/effect.ts";
import {
  approvalId,
  checkId,
  deadlineId,
  llmId,
  queueId,
  retryId,
  summaryId,
  toolId,
  waitId,
} from "../protocol/effect-id.ts";
import { type Fresh, isObject, type Json, type JsonObject, frozen } from "../../thread/plain-data.ts";

/** Creates the outstanding model call, with its prompt as it was when the call was requested. */
export const callLlm = (
  data: ConversationData,
  open: OpenTurn,
  call: OutstandingCall,
  prompts: Prompts = promptsAnew,
): CallLlm => {
  const thread = call.pins === data.conversation.pins ? data.conversation : { ...data.conversation, pins: call.pins };
  const output = wantedOutput(open);
  const model = modelOfStep(open);
  const { messages, digest } = prompts.render(thread, call.cut, call.system, toArray(open.messages), output);
  const effect: Fresh<CallLlm> = {
    type: "callLlm",
    id: llmId(data.threadId, open.number, open.step, call.attempt),
    threadId: data.threadId,
    turn: open.number,
    step: open.step,
    attempt: call.attempt,
    purpose: "answer",
    // Each message is frozen, so there is no need to walk them.
    messages: Object.freeze(messages),
    promptDigest: digest,
    model,
  };
  if (call.tools !== undefined) effect.tools = call.tools;
  if (output !== undefined) effect.output = output;
  if (call.idleTimeoutMs !== null) effect.idleTimeoutMs = call.idleTimeoutMs;
  return Object.freeze(effect);
};

/**
 * Returns the model parameters of a step. A `tool_choice` that forces a call applies only to a turn's first step,
 * since the model could never answer otherwise. The output tool is not affected: handlers force it themselves.
 */
const modelOfStep = ({ model, step }: OpenTurn): JsonObject => {
  if (step <= 1 || !choices.some((name) => forcesCall(model[name]))) return model;
  return Object.freeze(
    Object.fromEntries(Object.entries(model).filter(([name, value]) => !(choices.includes(name) && forcesCall(value)))),
  );
};

/** The parameter's name in the APIs, in chat completions before they had tools, and in the AI SDK. */
const choices: readonly string[] = ["tool_choice", "function_call", "toolChoice"];

/** Returns whether a choice forces a call: not `auto` or `none`. For OpenAI's `allowed_tools` its mode counts. */
const forcesCall = (choice: Json | undefined): boolean => {
  if (!isObject(choice)) return typeof choice === "string" && choice !== "auto" && choice !== "none";
  const { type, mode, allowed_tools: allowed } = choice;
  if (type === "allowed_tools") return (isObject(allowed) ? allowed["mode"] : mode) === "required";
  return type !== "auto" && type !== "none";
};

export const callSummary = (data: ConversationData, summarising: Summarising): CallLlm => {
  const { number, turn, instruction, model, idleTimeoutMs } = summarising;
  const messages = summaryRequest(data.conversation, summarising, instruction, number - 1);
  return {
    type: "callLlm",
    id: summaryId(data.threadId, number),
    threadId: data.threadId,
    turn: turn ?? 0,
    step: 0,
    attempt: 1,
    purpose: "summary",
    messages,
    promptDigest: digestOfPrompt(messages),
    model,
    tools: [],
    ...(idleTimeoutMs === null ? {} : { idleTimeoutMs }),
  };
};

/** Creates the check whether the newest message of the open turn is the requested output. */
export const checkOutput = (threadId: string, open: OpenTurn): readonly CheckOutput[] => {
  const output = wantedOutput(open);
  // Without a requested output there is nothing to check.
  if (output === undefined) return [];
  const reply = at(open.messages, open.messages.length - 1);
  const check: CheckOutput = {
    type: "checkOutput",
    id: checkId(threadId, open.number, open.step),
    threadId,
    turn: open.number,
    step: open.step,
    attempt: (open.refusedOutputs?.length ?? 0) + 1,
    text: reply === undefined ? "" : textOf(reply),
    output,
  };
  return [Object.freeze(check)];
};

/** Returns the requested output as effects carry it: without the number of repairs. */
export const wantedOutput = ({ output }: OpenTurn): CallLlm["output"] =>
  output === undefined ? undefined : Object.freeze({ name: output.name, schema: output.schema, mode: output.mode });

export const queueTimer = (threadId: string, { seq, dueAt }: Waking): StartTimer =>
  timer(threadId, queueId(threadId, seq), "queue", dueAt);

export const deadlineTimer = (threadId: string, turn: number, dueAt: number): StartTimer =>
  timer(threadId, deadlineId(threadId, turn), "deadline", dueAt);

export const retryTimer = (threadId: string, { number, step }: OpenTurn, { attempt, dueAt }: Due): StartTimer =>
  timer(threadId, retryId(threadId, number, step, attempt), "retry", dueAt);

export const waitTimer = (threadId: string, { number, step }: OpenTurn, { attempt, dueAt }: Due): StartTimer =>
  timer(threadId, waitId(threadId, number, step, attempt), "summary", dueAt);

interface Due {
  readonly attempt: number;
  readonly dueAt: number;
}

const timer = (threadId: string, id: string, purpose: StartTimer["purpose"], dueAt: number): StartTimer =>
  Object.freeze({ type: "startTimer", id, threadId, purpose, dueAt });

export const callTool = (data: ConversationData, open: OpenTurn, call: RoundCall, position: number): CallTool =>
  Object.freeze({
    type: "callTool",
    id: toolId(data.threadId, call.callId, call.attempt),
    threadId: data.threadId,
    turn: open.number,
    step: open.step,
    position,
    attempt: call.attempt,
    callId: call.callId,
    providerCallId: call.providerCallId,
    name: call.name,
    arguments: call.arguments,
    started: call.started,
    ...(call.by === undefined ? {} : { by: call.by }),
    approval: frozen(approvalOf(call)),
  });

export const requestApproval = (
  data: ConversationData,
  open: OpenTurn,
  { callId, name }: RoundCall,
  { number, because, version, arguments: args }: Approvable & { readonly number: number },
  position: number,
): RequestApproval => ({
  type: "requestApproval",
  id: approvalId(data.threadId, callId, number),
  threadId: data.threadId,
  turn: open.number,
  step: open.step,
  position,
  callId,
  name,
  because,
  version,
  arguments: args,
  digest: approvalDigest(name, version, args),
});

const approvalOf = ({ approval }: RoundCall): CallTool["approval"] => {
  if (approval === null || approval.status === "required") return approval === null ? null : "required";
  const { because, version, arguments: args } = approval;
  return { because, version, arguments: args };
};

/** Returns a digest of the approved call: the tool, its version, and the validated arguments. */
export const approvalDigest = (name: string, version: string | null, args: Json): string =>
  digestOf({ name, version, arguments: args });
