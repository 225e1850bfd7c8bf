import {
  type Json,
  type JsonObject,
  messagesOf,
  phaseOf,
  type ReportedUsage,
  saysCut,
  turnsOf,
} from "@colloquy/machine";
import type { CanonicalCall } from "./canonical.ts";
import { contrast } from "./difference.ts";
import { type Drive, feed, figuresOf, send, soleCall, toolCallsOut } from "./drive.ts";
import { journalDifference } from "./journal.ts";
import { difference, type Ending, type Given, inexpressible, Obstacle, type Reply, type Script } from "./script.ts";

/**
 * Performs the steps of a script with a machine, and compares each prompt, the calls of each reply, and the end.
 *
 * @throws Obstacle for the first difference
 */
export const perform = (driven: Drive, script: Script): void => {
  let between: Given[] = [];
  let k = 0;
  for (const step of script.steps) {
    if (step.type === "given") {
      between.push(step);
      continue;
    }
    feed(driven, between, true);
    callModel(driven, k++, step, script.end);
    between = [];
  }
  try {
    if (between.length > 0) feed(driven, between, false);
    compareEnd(driven, script);
  } catch (thrown) {
    if (!(thrown instanceof Obstacle) || script.end.unfit === null) throw thrown;
    throw inexpressible(thrown.step, `it ends as no thread does: ${script.end.unfit}`);
  }
};

const callModel = (driven: Drive, k: number, step: Reply, { usageNames }: Ending): void => {
  const { index, draft, finishReason } = step;
  const call = soleCall(driven, index);
  const wrong = step.promptDifference(call.messages);
  if (wrong !== null) throw difference(index, `model call ${k}${wrong}`);
  const reply = draft();
  const calls = reply.toolCalls ?? [];
  if (calls.length > 0 && saysCut(finishReason))
    throw inexpressible(index, `the calls of a reply that was cut (${JSON.stringify(finishReason)}) are never run`);
  const usage = step.usage ? { usage: reportedUsage(step.usage, usageNames) } : {};
  const { id: effectId, promptDigest } = call;
  send(driven, index, { type: "llm.completed", effectId, reply, finishReason, ...usage, promptDigest });
  const words = toolCallsDifference(driven, calls);
  if (words !== null) throw difference(index, words);
};

const toolCallsDifference = (driven: Drive, recorded: readonly CanonicalCall[]): string | null => {
  const out = toolCallsOut(driven);
  for (let position = 0; position < Math.max(out.length, recorded.length); position++) {
    const call = out[position];
    const came =
      call === undefined ? undefined : { id: call.providerCallId, name: call.name, arguments: call.arguments };
    const expected = recorded[position];
    if (came === undefined) return `tool call ${position} was not asked for: recorded ${JSON.stringify(expected)}`;
    if (expected === undefined) return `tool call ${position} is one too many: came ${JSON.stringify(came)}`;
    for (const field of ["id", "name", "arguments"] as const) {
      // The recorded call may be of a kind that lacks this field; then the other fields identify it.
      if (expected[field] !== undefined && came[field] !== expected[field])
        return `tool call ${position}, ${field}: ${contrast(came[field], expected[field])}`;
    }
  }
  return null;
};

const compareEnd = (driven: Drive, script: Script): void => {
  const words = endDifference(driven, script);
  if (words !== null) throw difference(null, words);
  const journal = journalDifference(driven.machine, driven.entries, driven.state);
  if (journal !== null) throw difference(null, `the journal: ${journal}`);
};

const endDifference = (driven: Drive, script: Script): string | null => {
  const { end } = script;
  const { system } = driven.state.context.conversation;
  const phase = phaseOf(driven.state);
  if (end.phase !== null && end.phase !== phase)
    return `the machine ends in ${phase}; ${end.phaseOf} should leave it in ${end.phase}`;
  const wrong = end.messagesDifference([...(system === null ? [] : [system]), ...messagesOf(driven.state)]);
  if (wrong !== null) return `the final list: ${wrong}`;
  return (
    end.contradiction ??
    countDifference(driven, end) ??
    usageDifference(driven, script) ??
    reasonsDifference(driven, end)
  );
};

const countDifference = (driven: Drive, { counts, given }: Ending): string | null => {
  const figures = figuresOf(driven, given);
  for (const [what, figure, recorded] of counts) {
    const came = typeof figure === "number" ? figure : figures[figure];
    if (came !== recorded) return `${what}: came ${came}, recorded ${recorded}`;
  }
  return null;
};

const usageFields = ["inputTokens", "outputTokens", "totalTokens"] as const;

const usageDifference = ({ state }: Drive, { steps, end }: Script): string | null => {
  const reports = steps.flatMap((step) => (step.type === "reply" ? [step.usage] : []));
  for (const field of usageFields) {
    const tally = state.context.usage.total[field];
    const name = end.usageNames[field];
    const sum = end.usage?.[name];
    const reported = reports.filter((report) => isTokens(report?.[name])).length;
    // If the provider left a total out, the machine has the sum of the parts, but the recording has nothing.
    if (field === "totalTokens" && tally.reported > reported) continue;
    if (tally.reported !== reported)
      return `${name}: the machine has them of ${tally.reported} calls, ${reported} reported them`;
    if (typeof sum === "number" && sum !== tally.sum) return `${name}: came ${tally.sum}, recorded ${sum}`;
  }
  return null;
};

/** Converts the provider's usage report. A figure that is not a whole number of tokens is unknown. */
const reportedUsage = (usage: JsonObject, names: Ending["usageNames"]): ReportedUsage =>
  Object.fromEntries(
    usageFields.flatMap((field) => {
      const tokens = usage[names[field]];
      return isTokens(tokens) ? [[field, tokens]] : [];
    }),
  );

const isTokens = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const reasonsDifference = ({ entries, state }: Drive, { finishReasons: expected }: Ending): string | null => {
  if (expected === undefined) return null;
  const came = entries.flatMap(({ event }) => (event.type === "llm.completed" ? [event.finishReason] : []));
  for (let k = 0; k < Math.max(came.length, expected.length); k++) {
    if (came[k] !== expected[k])
      return `finish reason of model call ${k}: came ${JSON.stringify(came[k])}, recorded ${JSON.stringify(expected[k])}`;
  }
  const turn = turnsOf(state).at(-1);
  // A turn that the client inserted ended without a reply.
  if (turn?.outcome.status !== "completed" || turn.steps === 0 || state.context.open !== null) return null;
  const last = expected.at(-1) ?? null;
  return turn.outcome.finishReason === last
    ? null
    : `the last turn ended with ${JSON.stringify(turn.outcome.finishReason)}, recorded ${JSON.stringify(last)}`;
};
