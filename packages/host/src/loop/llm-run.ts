import {
  type CallLlm,
  type Entry,
  type LlmCompleted,
  type ReplyDraft,
  type LlmFailed,
  type ReportedUsage,
  type State,
  type ToolDeclaration,
  usedNothing,
} from "@colloquy/machine";
import {
  callIdAt,
  foreignCallsIn,
  mostNestedInEvent,
  NotPlain,
  plainCopy,
  problemOfEvent,
} from "@colloquy/machine/hosting";
import type { Sender } from "../mailbox/mailbox.ts";
import { ShownOutput } from "../output/partial-json.ts";
import { isDelta, type LlmContext, type LlmDelta, type LlmOutcome } from "../ports/llm.ts";
import type { LoopPort, Responding, Running } from "./loop-port.ts";
import { type ShownCall, showReply, showText } from "./report.ts";
import { hasPartial, progressOf } from "./decide.ts";
import { decodeEvent } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { messageOf } from "../boundary/thrown.ts";
import type { RunContext } from "../context/host-context.ts";

export class LlmRun implements Running, Responding, Sender {
  readonly effectId: string;
  readonly #loop: LoopPort;
  readonly #call: CallLlm;
  readonly #controller = new AbortController();
  /** The text that was streamed so far, without tool calls, which may be incomplete. */
  readonly #shown: ShownPart[] = [];
  readonly #place: ShownCall;
  #cancelProgress: (() => void) | null = null;
  #hasJournalled = false;
  #over = false;

  constructor(loop: LoopPort, call: CallLlm) {
    this.#loop = loop;
    this.#call = call;
    this.effectId = call.id;
    const { turn, step, attempt, output } = call;
    this.#place = { turn, step, attempt, output: output === undefined ? null : new ShownOutput() };
  }

  get shown(): ReplyDraft | undefined {
    return draftOf(this.#shown);
  }

  begin(): void {
    this.#loop.running.set(this.#call.id, this);
    this.#loop.responding = this;
    void this.#run();
  }

  mute(): void {
    this.#over = true;
    this.#cancelProgress?.();
    this.#cancelProgress = null;
  }

  showOther(event: LlmCompleted): void {
    const { output } = this.#call;
    // As of a later attempt, so that readers drop what was shown of this one.
    const attempt = this.shown === undefined ? this.#place.attempt : this.#place.attempt + 1;
    const place = { ...this.#place, attempt, output: output === undefined ? null : new ShownOutput() };
    showReply(this.#loop, place, event, false);
  }

  stop(reason: Error | null): void {
    this.#leave();
    this.#controller.abort(reason ?? undefined);
  }

  journalProgress(): void {
    const news = this.#over ? [] : this.#shown.filter(({ isJournalled }) => !isJournalled);
    const partial = draftOf(news);
    if (partial === undefined) return;
    for (const part of news) part.isJournalled = true;
    const { host, state } = this.#loop;
    // The partial reply that an earlier run had journalled is void.
    const again = !this.#hasJournalled && hasPartial(state);
    this.#hasJournalled = true;
    this.#loop.post({ event: progressOf(this.#call.id, partial, host.clock.now(), again), sender: null });
  }

  accepted(entry: Entry): void {
    this.#leave();
    if (entry.event.type === "llm.completed") showReply(this.#loop, this.#place, entry.event, this.shown !== undefined);
  }

  refused(): void {
    this.#leave();
  }

  /** Does nothing: the loop has ended, and the call was over before its answer was posted. */
  failed(): void {}

  async #run(): Promise<void> {
    const { host } = this.#loop;
    const { hooks } = host.observation;
    if (this.#call.attempt === 1 && (hooks.beforeTurn ?? hooks.beforeStep) !== undefined) await this.#callHooks();
    if (this.#over) return;
    if (!this.#loop.mayCall()) return;
    const context: LlmContext = {
      signal: this.#controller.signal,
      onDelta: (delta) => this.#show(delta),
      onWait: (until) => this.#showWait(until),
      clock: host.clock,
      tools: offeredTools(host, this.#call, this.#loop.state),
    };
    const outcome = await callModel(host, this.#call, context);
    if (this.#over) return;
    const at = host.clock.now();
    this.mute();
    this.#loop.running.delete(this.#call.id);
    // The shown part is kept until the answer is handled: a cancel may be ahead of it in the mailbox.
    const event = llmAnswer(this.#call, outcome, at, this.shown);
    this.#loop.post({ event, sender: this, isRead: event.type === "llm.completed" });
  }

  async #callHooks(): Promise<void> {
    const { observation } = this.#loop.host;
    const { threadId, turn, step } = this.#call;
    if (step === 1) await observation.before("beforeTurn", { threadId, turn });
    await observation.before("beforeStep", this.#call);
  }

  #show(delta: LlmDelta): void {
    if (this.#over) return;
    if (!isDelta(delta)) {
      // The value may hold a key.
      this.#loop.host.observation.report(new TypeError("the llm handler gave onDelta what is no delta"), "llm");
      return;
    }
    this.#scheduleProgress();
    const { turn, step, attempt } = this.#call;
    if (delta.type === "toolCall") {
      const { index: position, id: providerCallId, name, arguments: written } = delta;
      const callId = callIdAt(turn, step, position);
      const place = { type: "toolCall.delta", turn, step, position, callId, attempt } as const;
      this.#loop.asks.recorder?.record(turn, { ...place, providerCallId, name, arguments: written });
    } else {
      addTo(this.#shown, delta.type, delta.text);
      showText(this.#loop, this.#place, delta.type, delta.text);
    }
  }

  #showWait(until: number | null | "over"): void {
    if (this.#over) return;
    const part = until === "over" ? wentOn : ({ type: "wait.started", for: "model", until } as const);
    this.#loop.asks.recorder?.record(this.#call.turn, part);
  }

  /** Starts one timer with the first delta after an entry, so nothing is journalled without news. */
  #scheduleProgress(): void {
    const { clock, progressMs } = this.#loop.host;
    if (progressMs === null || this.#cancelProgress !== null) return;
    this.#cancelProgress = clock.wakeAt(clock.now() + progressMs, () => {
      this.#cancelProgress = null;
      this.journalProgress();
    });
  }

  #leave(): void {
    this.mute();
    if (this.#loop.responding === this) this.#loop.responding = null;
  }
}

const wentOn = { type: "wait.ended" } as const;

interface ShownPart {
  readonly type: "text" | "reasoning" | "refusal";
  text: string;
  /** A journalled part never grows, since an entry with a slice of its text would keep the whole text in memory. */
  isJournalled: boolean;
}

const addTo = (parts: ShownPart[], type: ShownPart["type"], text: string): void => {
  if (text === "") return;
  const last = parts.at(-1);
  if (last?.type === type && !last.isJournalled) last.text += text;
  else parts.push({ type, text, isJournalled: false });
};

const draftOf = (parts: readonly ShownPart[]): ReplyDraft | undefined => {
  const joined: ShownPart[] = [];
  for (const { type, text } of parts) addTo(joined, type, text);
  const first = joined[0];
  if (first === undefined) return undefined;
  if (first.type === "text" && joined.length === 1) return { content: first.text };
  return { content: joined.map(({ type, text }) => ({ type, text })) };
};

/** The outcome that a handler returned, as an independent copy in plain JSON. It is not validated yet. */
export type GivenOutcome = Partial<LlmOutcome>;

/** Calls the model. Never rejects: if the handler throws, the call has failed, and the error is reported. */
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

/** Returns the description of an error for the journal, if it is a text. */
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
const offeredTools = (
  { declared }: RunContext,
  { tools, purpose }: CallLlm,
  state: State | null,
): readonly ToolDeclaration[] => {
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
 * invalid, the event is a failure that says so. A reply is deeply frozen, and needs no further check.
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
  if (lost === null && problemOfEvent(event) === null) return Object.freeze(event as LlmCompleted | LlmFailed);
  const failure = failureOf(inWords(lost ?? problemOf(event)));
  return { type: "llm.failed", ...answered, failure, ...kept };
};

/** Returns whether a server refused the call before it did anything, so that it cost nothing, unless usage is reported. */
const isRefusal = (given: object): boolean => {
  if ("partial" in given || !("failure" in given)) return false;
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

/** Returns the outcome as JSON writes it, or a failure if even that is not what an event may have. */
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
  return { ...given, usage: Object.freeze(said) };
};

/** Returns the failure of a handler with a fault of its own: calling it again would not help. */
const failureOf = (message: string): LlmFailed["failure"] => ({ kind: "unknown", message, retryable: false });
