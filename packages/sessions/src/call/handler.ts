import type { LlmContext, LlmHandler, LlmOutcome } from "@colloquy/host";
import { type CallLlm, noUsage, type ReportedUsage, type Tally, type Usage } from "@colloquy/machine";
import { reasonOf } from "@colloquy/runtime-node";
import type { SessionCore } from "../core/core.ts";
import type { Ground } from "../core/ground.ts";
import { Frame } from "../nesting/frame.ts";
import { type Fields, fieldsOf } from "../program/fields.ts";
import { marksIn } from "../program/marks.ts";
import { memoryAt } from "../program/memory.ts";
import { replyOf } from "../program/reply.ts";
import { runProgram } from "./run-program.ts";
import { summarise } from "./summarise.ts";

/** Makes the model of a session's threads: its program. Summaries are written by the summariser, or by a real model. */
export const programHandler = (core: SessionCore, ground: () => Ground): LlmHandler => {
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
