import { BoundSession } from "./bound-session.ts";
import type { CallHandle, CallOptions } from "./call/call.ts";
import { SessionCore } from "./core/core.ts";
import type { AnyOptions, SessionOptions } from "./core/options.ts";
import type { GivenExchange } from "./program/exchange.ts";
import { type Memory, type TurnSummary, memoryAt } from "./program/memory.ts";
import type { Program } from "./program/program.ts";
import type { Records } from "./records.ts";
import type { Signature } from "./program/signature.ts";
import type { SessionTurn } from "./thread/turns.ts";
import type { Trace } from "./nesting/trace.ts";
import type { Checkpoint, HostedThread, LlmContext, LlmHandler, LlmOutcome } from "@colloquy/host";
import {
  type CallLlm,
  noUsage,
  type ReportedUsage,
  type Tally,
  type Usage,
  ConfigurationError,
  contentText,
  textOf,
  toArray,
  turnNumbered,
} from "@colloquy/machine";
import { reasonOf } from "@colloquy/runtime-node";
import type { Ground } from "./core/ground.ts";
import { Frame } from "./nesting/frame.ts";
import { type Fields, fieldsOf } from "./program/fields.ts";
import { marksIn } from "./program/marks.ts";
import { replyOf } from "./program/reply.ts";
import { runProgram } from "./call/run-program.ts";

/**
 * A program with turns, on one thread. All values that it takes and returns are copied. Each manual change of the
 * thread adds one entry to its journal, and is refused while a call is running; nothing is ever removed.
 */
export interface Session<
  Given extends object,
  Inputs extends object,
  Result extends object,
  Outputs extends object = Result,
>
  extends Records<Inputs, Result>, AsyncDisposable {
  readonly name: string;
  /** The thread that records the calls, for all functions of threads, such as export and redaction. */
  readonly thread: HostedThread;
  /** Calls the program, and records the turn. Within another program, the option `lifespan` applies. */
  call(inputs: Given, options?: CallOptions): CallHandle<Result>;
  /**
   * Returns the same session on a separate thread for a user, or for anything else with an id. Different ids have
   * different threads, and none is a thread of a nested program.
   *
   * @throws ConfigurationError for an id that is empty, or not a text
   */
  user(id: string): Session<Given, Inputs, Result, Outputs>;
  /** Returns the view of this session's memory under another session, whose program calls it. */
  under(outer: { readonly thread: HostedThread }): Session<Given, Inputs, Result, Outputs>;
  /** Returns the recorded calls in force, oldest first: the newest `maxStoredTurns` of them. */
  turns(): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /** Returns the number of these calls. */
  count(): Promise<number>;
  /** Returns the memory that the next call would see. */
  memory(): Promise<Memory>;
  /**
   * Returns the turns of that memory one by one, oldest first: the summary of each, otherwise its inputs and outputs.
   */
  summaries(): Promise<readonly TurnSummary[]>;
  /** Takes back the newest calls, or all if there are fewer. Returns them, newest first. */
  undo(calls?: number): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /** Takes back the newest call, and returns it; null if there is none. */
  pop(): Promise<SessionTurn<Inputs, Result> | null>;
  /** Takes an undo back, call by call. Returns the calls, newest first. */
  redo(calls?: number): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /** Begins again, with the seed. The earlier turns are kept, and the session can return to them. */
  reset(): Promise<void>;
  /** Adds a call that was made elsewhere to the turns. */
  addTurn(exchange: GivenExchange): Promise<void>;
  /**
   * Returns a fork of the thread up to a turn, by its number; changes of one do not affect the other. Default: up to
   * its end.
   */
  fork(turn?: number): Promise<Session<Given, Inputs, Result, Outputs>>;
  /** Gives the present place a name for `restore`. */
  checkpoint(name: string): Promise<void>;
  /** Returns to a named place. Rejects with `RangeError` if the name is unknown. */
  restore(name: string): Promise<void>;
  checkpoints(): Promise<readonly Checkpoint[]>;
  /**
   * Replaces the program for later calls on all threads of the session; a running call ends with the program that it
   * began with. The turns stay. Each turn names its program, and the next call on a thread journals the change.
   *
   * @param options `version` is that of the new program. Default: incremented.
   */
  swap(program: Program<Inputs, Outputs>, options?: { readonly version?: string }): void;
  /** Returns the calls within a turn, by its number. Default: the newest. Null if the turn does not exist. */
  trace(turn?: number): Promise<Trace | null>;
  /** Continues, in the background, the calls of this program that were under way when a process died. See `Host.start`. */
  start(): void;
  /**
   * Returns a session on a new thread from the result of `save` or `fromDspySession`. It is unchanged, and can
   * continue.
   *
   * @param options `threadId` is the id of the new thread. Default: its old id.
   * @throws ImportRefusedError if it is not a saved session, or has another version, or is damaged; nothing is stored.
   * ThreadExistsError if the thread exists already.
   */
  load(saved: unknown, options?: { readonly threadId?: string }): Promise<Session<Given, Inputs, Result, Outputs>>;
  /** Releases all threads of the session. A running call continues at the next use. */
  close(): Promise<void>;
}

/**
 * Gives a program turns: it is the model of its own thread. So each call is an ask, and is journalled, queued,
 * cancelled, resumed, forked and redacted like any ask, on every store. It is attempted once: a program that throws is
 * not called again, and the call rejects with its error. No turn is recorded then.
 *
 * @throws ConfigurationError for options that are missing, unknown or invalid
 */
export function session<Inputs extends object, Outputs extends object>(
  program: Program<Inputs, Outputs>,
  options: SessionOptions<Inputs, Inputs, Outputs, Outputs> & { readonly signature?: undefined },
): Session<Inputs, Inputs, Outputs>;
export function session<Given extends object, Inputs extends object, Outputs extends object, Result extends object>(
  program: Program<NoInfer<Inputs>, NoInfer<Outputs>>,
  options: SessionOptions<Given, Inputs, Outputs, Result> & {
    readonly signature: Signature<Given, Inputs, Outputs, Result>;
  },
): Session<Given, Inputs, Result, Outputs>;
export function session(program: Program<never, object>, given: object): Session<object, object, object> {
  // Typed by the overloads; the signature checks inputs and outputs.
  const core = new SessionCore(program, given as AnyOptions, programHandler);
  return new BoundSession(core, core.ground(), { threadId: core.options.threadId ?? core.name, named: false }, null);
}

/** Makes the model of a session's threads: its program. Summaries are written by the summariser, or by a real model. */
const programHandler = (core: SessionCore, ground: () => Ground): LlmHandler => {
  const handler: LlmHandler = (call, context) =>
    call.purpose === "summary" ? summarise(core, ground(), call, context) : answer(core, ground(), call, context);
  return Object.assign(handler, { secrets: () => ground().llm?.secrets?.() ?? [] });
};

const answer = async (
  core: SessionCore,
  ground: Ground,
  call: CallLlm,
  { signal }: LlmContext,
): Promise<LlmOutcome> => {
  const { threadId, turn } = call;
  const asked = call.messages.at(-1);
  const marks = marksIn(asked?.metadata);
  const waiting = core.waiting.of(threadId, marks.askId);
  const createdAt = (await ground.host.thread(threadId).state())?.context.createdAt ?? 0;
  const frame = new Frame({
    key: `${threadId}/${turn}`,
    turn: { threadId, createdAt, number: turn },
    path: [],
    ancestors: [...(marks.ancestors ?? []), threadId],
    memory: memoryAt(call.messages),
    ground,
    signal,
    isWithin: (session) => session === core || waiting.some((each) => each.isWithin(session)),
    show: (part) => {
      for (const each of waiting) each.show(part);
    },
  });
  const model = `${core.name}@${core.version}`;
  const inputs = fieldsOf(asked);
  try {
    const outputs = await runProgram(core, frame, inputs, { threadId, turn });
    const reply = replyOf(outputs, described(core, inputs, outputs) ?? toolsUsed(frame));
    return { type: "completed", reply, finishReason: "stop", usage: reportedUsage(frame.usage), model };
  } catch (thrown) {
    if (!signal.aborted) for (const each of waiting) each.threw(thrown);
    const failure = { kind: "unknown", message: reasonOf(thrown), retryable: false } as const;
    return { type: "failed", failure, usage: reportedUsage(frame.usage) };
  }
};

/**
 * Calls `describe` with copies and without the memory, because it only describes the outputs. If it throws, the answer
 * is still recorded.
 */
const described = (core: SessionCore, inputs: Fields, outputs: Fields): string | null => {
  const { options } = core;
  if (options.describe === undefined) return null;
  try {
    // Typed by the signature.
    const said: unknown = options.describe(structuredClone(inputs) as never, structuredClone(outputs));
    if (typeof said === "string") return said;
    throw new TypeError(`describe gave a value of type ${typeof said}; it must give a text`);
  } catch (thrown) {
    core.report(thrown, "describe");
    return null;
  }
};

const toolsUsed = ({ toolUse }: Frame): string | null => toolUse.filter((used) => used !== null).join("\n") || null;

/**
 * Reports the usage of the nested model calls as the usage of the one call that the program is; none for a program
 * without model calls.
 */
const reportedUsage = (usage: Usage): ReportedUsage =>
  usage.calls === 0
    ? { inputTokens: 0, outputTokens: 0 }
    : Object.fromEntries(
        Object.keys(noUsage)
          .filter((field) => field.endsWith("Tokens"))
          // The tallies have the same names as the reported figures.
          .map((field) => [field, usage[field as keyof ReportedUsage & keyof Usage]] as const)
          .filter((entry): entry is readonly [string, Tally] => entry[1].reported > 0)
          .map(([field, { sum }]) => [field, sum]),
      );

/** Requests the summary of a turn. A failure fails only the summary, not the answer. */
const summarise = async (
  core: SessionCore,
  ground: Ground,
  call: CallLlm,
  context: LlmContext,
): Promise<LlmOutcome> => {
  const { summariser } = core.options;
  const [instruction, request] = call.messages;
  const text = await withDescription(core, ground, call, request === undefined ? "" : textOf(request));
  if (summariser === undefined) {
    if (ground.llm === undefined) throw new ConfigurationError(`the session "${core.name}" has no model for summaries`);
    const messages = call.messages.map((message) =>
      message === request ? { ...message, parts: [{ type: "text", text } as const] } : message,
    );
    return ground.llm({ ...call, messages }, context);
  }
  const given = { text, instruction: instruction === undefined ? "" : textOf(instruction), signal: context.signal };
  return { type: "completed", reply: { content: await summariser(given) }, finishReason: "stop" };
};

/** Replaces the outputs in a text with their description by `describe`. */
const withDescription = async (core: SessionCore, { host }: Ground, call: CallLlm, text: string): Promise<string> => {
  if (core.options.describe === undefined) return text;
  const state = await host.thread(call.threadId).state();
  const covered = state?.context.summarising?.covers.to;
  if (state === null || covered === undefined) return text;
  const turn = turnNumbered(state, covered);
  const answer = turn === undefined ? undefined : toArray(turn.messages).findLast(({ role }) => role === "assistant");
  return answer === undefined ? text : text.replace(contentText(answer.parts), () => textOf(answer));
};
