import type {
  CallLlm,
  LlmCompleted,
  LlmFailed,
  ReplyDraft,
  ReportedUsage,
  State,
  ToolDeclaration,
} from "@colloquy/machine";
import { toolsOf, usedNothing } from "@colloquy/machine";
import { foreignCallsIn, mostNestedInEvent, NotPlain, plainCopy, problemOfEvent } from "@colloquy/machine/hosting";
import { decodeEvent } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { messageOf } from "../boundary/thrown.ts";
import type { RunContext } from "../context/host-context.ts";
import type { LlmContext, LlmOutcome } from "../ports/llm.ts";

/** The outcome that a handler returned, as an independent copy in plain JSON. It is not validated yet. */
export type GivenOutcome = Partial<LlmOutcome>;

/**
 * Calls the model. Never rejects: if the handler throws, the call has failed, and `onObserverError` gets the error. A
 * handler that was stopped may throw; its error is not reported.
 */
export const callModel = async (host: RunContext, call: CallLlm, context: LlmContext): Promise<GivenOutcome> => {
  try {
    // Copied before anything else is done, since the handler may still change the original.
    return withoutKeys(host, copyOf(await host.llm(call, context)));
  } catch (thrown) {
    if (context.signal.aborted) return { type: "failed", failure: failureOf("the call was stopped") };
    // The thrown error may hold a key, and would be journalled.
    host.observation.report(thrown, "llm");
    return withoutKeys(host, { type: "failed", failure: failureOf(`the llm handler threw${reasonOf(host, thrown)}`) });
  }
};

/** Removes keys from the message of a failure. A reply stays as the model wrote it. */
const withoutKeys = ({ secrets }: RunContext, outcome: GivenOutcome): GivenOutcome => {
  if (outcome.type !== "failed" || typeof outcome.failure?.message !== "string") return outcome;
  const { failure } = outcome;
  return { ...outcome, failure: { ...failure, message: messageOf(failure.message, secrets()) } };
};

/**
 * Returns the description of an error for the journal. A description that throws or is not a text is ignored. The
 * failed call does not wait for a promise of one.
 */
const reasonOf = ({ describeThrown, observation }: RunContext, thrown: unknown): string => {
  const failed = (error: unknown): void => observation.report(error, "describeThrown");
  try {
    const reason: unknown = describeThrown?.(thrown);
    if (typeof reason === "string") return `: ${reason}`;
    // Without this its rejection would end the process.
    if (reason instanceof Promise) reason.catch(failed);
  } catch (error) {
    failed(error);
  }
  return "; onObserverError was given the error";
};

/**
 * Returns the declarations of the tools that a call offers: the machine's, and those of the asks, which are in the
 * thread. Under a configuration that lists none, these are all that the machine declares. A tool that was
 * removed since the call was requested is left out: it could not be run.
 */
export const offeredTools = (
  { machine }: RunContext,
  { tools, purpose }: CallLlm,
  state: State | null,
): readonly ToolDeclaration[] => {
  const declared = toolsOf(machine);
  const callers = (purpose === "answer" ? state?.context.open?.callerTools : undefined) ?? [];
  if (callers.length === 0 && (tools === undefined || isAllOf(declared, tools))) return declared;
  const known = [...declared.filter(({ name }) => !callers.some((tool) => tool.name === name)), ...callers];
  return tools === undefined
    ? known
    : tools.flatMap((offered) => known.find(({ name }) => name === offered.name) ?? []);
};

/** True for nearly each call; then no tool is looked up. By index, as methods of frozen lists are slow. */
const isAllOf = (declared: readonly ToolDeclaration[], offered: NonNullable<CallLlm["tools"]>): boolean => {
  if (declared.length !== offered.length) return false;
  for (let index = 0; index < declared.length; index++)
    if (declared[index]?.name !== offered[index]?.name) return false;
  return true;
};

/**
 * Returns the event that answers a model call. A handler is foreign code, so its outcome is validated first. If it is
 * invalid, the event is a failure that says so.
 *
 * @param shown the part of the reply that its deltas had shown, for a failure without a partial reply.
 */
export const llmAnswer = (
  call: CallLlm,
  { type, ...given }: GivenOutcome,
  at: number,
  shown: ReplyDraft | undefined,
): LlmCompleted | LlmFailed => {
  const answered = { at, effectId: call.id, promptDigest: call.promptDigest };
  const kept = shown === undefined ? {} : { partial: shown };
  const free = type === "failed" && shown === undefined && isRefusal(given) ? { usage: usedNothing } : {};
  const fields = { ...free, ...withoutKnownTotal(given) };
  const event =
    type === "failed"
      ? { type: "llm.failed", ...kept, ...fields, ...answered }
      : { type: "llm.completed", ...fields, ...answered };
  // Checked before other problems are named, since such a message also lacks content.
  const lost = type === "failed" ? null : lostCallsIn(given);
  // Built above with one of the two types, from parts that `copyOf` made plain: the machine can decode it.
  if (lost === null && problemOfEvent(event) === null) return event as LlmCompleted | LlmFailed;
  const failure = failureOf(inWords(lost ?? problemOf(event)));
  return { type: "llm.failed", ...answered, failure, ...kept };
};

/** Returns whether a server refused the call before it did anything, so that it cost nothing. */
const isRefusal = (given: object): boolean => {
  if ("usage" in given || "partial" in given || !("failure" in given)) return false;
  const { failure } = given;
  if (typeof failure !== "object" || failure === null || !("kind" in failure)) return false;
  return failure.kind === "rate_limit" || failure.kind === "overloaded";
};

/** Describes a problem without quoting a value, which may hold a key. */
const problemOf = (event: object): string => {
  const decoded = decodeEvent(event);
  if (Either.isRight(decoded)) return "it is no outcome";
  const { path, reason } = decoded.left;
  return `${path === "" ? "" : `${path}: `}${reason.replace(/, got .*$/s, "")}`;
};

/** Describes calls in a member of another format, which would be lost unless they are in ours as well. */
const lostCallsIn = (given: object): string | null => {
  const reply: unknown = "reply" in given ? given.reply : null;
  if (typeof reply !== "object" || reply === null) return null;
  if ("toolCalls" in reply && Array.isArray(reply.toolCalls) && reply.toolCalls.length > 0) return null;
  const foreign = foreignCallsIn(reply);
  return foreign === undefined
    ? null
    : `reply: "${foreign}" is the chat format's name, and its calls would be lost; return what replyFromChatMessage reads from the message, or the calls as toolCalls`;
};

/**
 * Returns a plain copy of an outcome. Values that a journal cannot keep make it a failure. Values that JSON writes in
 * another way, such as a date, are taken as JSON writes them, since the reply was paid for. A handler in JavaScript may
 * also forget to return.
 */
const copyOf = (outcome: LlmOutcome | undefined): GivenOutcome => {
  try {
    // As JSON it would be an empty reply.
    if (outcome?.type === "completed" && outcome.reply instanceof Promise)
      return { type: "failed", failure: failureOf(notAwaited) };
    const copy = plainCopy(outcome ?? {}, mostNestedInEvent);
    // The copy has the members that the outcome had.
    return copy instanceof NotPlain ? asWritten(outcome) : (copy as GivenOutcome);
  } catch {
    return { type: "failed", failure: failureOf(notJson) };
  }
};

/**
 * Returns the outcome as JSON writes it, or a failure. JSON can hold values that no event may have: the machine would
 * refuse the event, and the call would wait forever.
 */
const asWritten = (outcome: LlmOutcome | undefined): GivenOutcome => {
  // It has the members that the outcome had, as the copy has them.
  const written = JSON.parse(JSON.stringify(outcome)) as GivenOutcome;
  const copy = plainCopy(written, mostNestedInEvent);
  return copy instanceof NotPlain
    ? { type: "failed", failure: failureOf(inWords(problemOf({ ...written, type: "llm.completed" }))) }
    : (copy as GivenOutcome);
};

const inWords = (problem: string): string => `the outcome that the llm handler returned can't be used: ${problem}`;

const notAwaited = inWords("its reply is a promise; await it before it is returned");

const notJson = inWords("it can't be written as JSON");

/** Removes a total that is the sum of its parts: each journal would repeat it, and `usageOfCall` restores it. */
const withoutKnownTotal = <Given extends { readonly usage?: ReportedUsage | undefined }>(given: Given): Given => {
  const { usage } = given;
  if (usage?.totalTokens === undefined || usage.inputTokens === undefined || usage.outputTokens === undefined)
    return given;
  if (usage.totalTokens !== usage.inputTokens + usage.outputTokens) return given;
  const { totalTokens: _, ...said } = usage;
  return { ...given, usage: said };
};

/** Returns the failure of a handler with a fault of its own: calling it again would not help. */
const failureOf = (message: string): LlmFailed["failure"] => ({ kind: "unknown", message, retryable: false });
