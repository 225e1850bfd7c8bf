import type { LlmContext, LlmHandler, LlmOutcome } from "@colloquy/host";
import {
  type CallLlm,
  ConfigurationError,
  contentText,
  noUsage,
  type ReportedUsage,
  type Tally,
  textOf,
  toArray,
  turnNumbered,
  type Usage,
} from "@colloquy/machine";
import { reasonOf } from "@colloquy/runtime-node";
import { type Fields, fieldsGiven, fieldsOf, marksIn } from "../program/exchange.ts";
import { memoryAt, replyOf } from "../program/memory.ts";
import { functionOf, type ProgramContext, validated } from "../program/program.ts";
import type { SessionRuntime } from "../threads/session-runtime.ts";
import type { SharedSession } from "../threads/shared-session.ts";
import { nestedAsk, Run } from "./run.ts";

/** Makes the model of a session's threads: its program. Summaries are written by the summariser, or by a real model. */
export const programHandler = (session: SharedSession, runtime: () => SessionRuntime): LlmHandler => {
  const handler: LlmHandler = (call, context) =>
    call.purpose === "summary"
      ? summarise(session, runtime(), call, context)
      : answer(session, runtime(), call, context);
  return Object.assign(handler, { secrets: () => runtime().llm?.secrets?.() ?? [] });
};

const answer = async (
  session: SharedSession,
  runtime: SessionRuntime,
  { threadId, turn, messages }: CallLlm,
  { signal }: LlmContext,
): Promise<LlmOutcome> => {
  const asked = messages.at(-1);
  const marks = marksIn(asked?.metadata);
  const waiting = session.waiting.of(threadId, marks.askId);
  const createdAt = (await runtime.host.thread(threadId).state())?.context.createdAt ?? 0;
  const run = new Run({
    key: `${threadId}/${turn}`,
    turn: { threadId, createdAt, number: turn },
    path: [],
    ancestors: [...(marks.ancestors ?? []), threadId],
    memory: memoryAt(messages),
    runtime,
    signal,
    isWithin: (other) => other === session || waiting.some((each) => each.isWithin(other)),
    show: (part) => {
      for (const each of waiting) each.show(part);
    },
  });
  const model = `${session.name}@${session.version}`;
  const inputs = fieldsOf(asked);
  try {
    const outputs = await runProgram(session, run, inputs, { threadId, turn });
    const toolsUsed = run.toolUse.filter((used) => used !== null).join("\n");
    const reply = replyOf(outputs, described(session, inputs, outputs) ?? toolsUsed);
    return { type: "completed", reply, finishReason: "stop", usage: reportedUsage(run.usage), model };
  } catch (thrown) {
    if (!signal.aborted) for (const each of waiting) each.threw(thrown);
    const failure = { kind: "unknown", message: reasonOf(thrown), retryable: false } as const;
    return { type: "failed", failure, usage: reportedUsage(run.usage) };
  }
};

/**
 * Runs the program once, on copies, and returns its outputs as the signature validates them.
 *
 * @throws the program's error
 */
export const runProgram = async (
  { name, program, options }: SharedSession,
  run: Run,
  inputs: Fields,
  remembered: Pick<ProgramContext, "threadId" | "turn">,
): Promise<Fields> => {
  const context = Object.freeze<ProgramContext>({
    ...remembered,
    memory: run.memory,
    signal: run.signal,
    callId: run.key,
    status: (text) => run.show({ type: "status", text }),
    partial: (outputs) =>
      run.show({ type: "partial", outputs: fieldsGiven(`the partial outputs of "${name}"`, outputs) }),
    ask: (node, input, asking) => {
      if (typeof node === "string" && node !== "") return nestedAsk(run, node, input, asking);
      throw new ConfigurationError(
        `the program "${name}" calls a model as ${JSON.stringify(node)}; a call needs a name`,
      );
    },
  });
  // The signature checked the inputs when the call was made.
  const given = structuredClone(inputs) as never;
  const outputs = await run.execute(() => functionOf(program)(given, context));
  const fields = await validated(`the outputs of "${name}"`, options.signature?.outputs, outputs);
  for (const atEnd of run.atEnd.values()) await atEnd();
  return fields;
};

/**
 * Calls `describe` with copies and without the memory, because it only describes the outputs. If it throws, the answer
 * is still recorded.
 */
const described = (session: SharedSession, inputs: Fields, outputs: Fields): string | null => {
  const { options } = session;
  if (options.describe === undefined) return null;
  try {
    // Typed by the signature.
    const said: unknown = options.describe(structuredClone(inputs) as never, structuredClone(outputs));
    if (typeof said === "string") return said;
    throw new TypeError(`describe gave a value of type ${typeof said}; it must give a text`);
  } catch (thrown) {
    session.report(thrown, "describe");
    return null;
  }
};

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
  session: SharedSession,
  runtime: SessionRuntime,
  call: CallLlm,
  context: LlmContext,
): Promise<LlmOutcome> => {
  const { summariser } = session.options;
  const [instruction, request] = call.messages;
  const text = await withDescription(session, runtime, call, request === undefined ? "" : textOf(request));
  if (summariser === undefined) {
    if (runtime.llm === undefined)
      throw new ConfigurationError(`the session "${session.name}" has no model for summaries`);
    const messages = call.messages.map((message) =>
      message === request ? { ...message, parts: [{ type: "text", text } as const] } : message,
    );
    return runtime.llm({ ...call, messages }, context);
  }
  const given = { text, instruction: instruction === undefined ? "" : textOf(instruction), signal: context.signal };
  return { type: "completed", reply: { content: await summariser(given) }, finishReason: "stop" };
};

/** Replaces the outputs in a text with their description by `describe`. */
const withDescription = async (
  session: SharedSession,
  { host }: SessionRuntime,
  call: CallLlm,
  text: string,
): Promise<string> => {
  if (session.options.describe === undefined) return text;
  const state = await host.thread(call.threadId).state();
  const covered = state?.context.summarising?.covers.to ?? Number.NaN;
  const turn = state === null ? undefined : turnNumbered(state, covered);
  const answer = turn === undefined ? undefined : toArray(turn.messages).findLast(({ role }) => role === "assistant");
  return answer === undefined ? text : text.replace(contentText(answer.parts), () => textOf(answer));
};
