import { type ConversationMachine, messagesOf, phaseOf, saysCut, turnsOf } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { CanonicalCall } from "./canonical.ts";
import { contrast } from "./difference.ts";
import { type Drive, drive, type Figures, figuresOf, send, soleCall, toolCallsOut } from "./drive.ts";
import { feed } from "./feed.ts";
import { journalDifference } from "./journal.ts";
import {
  difference,
  type Ending,
  type Given,
  inexpressible,
  type Obstacle,
  type Reply,
  type Script,
} from "./script.ts";

/** Performs a script with a machine, and compares each prompt, the calls of each reply, and the end. */
export const perform = (
  machine: ConversationMachine,
  script: Script,
): { readonly driven: Drive; readonly figures: Figures; readonly obstacle: Obstacle | null } => {
  const { threadId, system, seed } = script;
  const driven = drive(machine, {
    threadId,
    ...(system === null ? {} : { system }),
    ...(seed.length === 0 ? {} : { seed }),
  });
  const obstacle = performSteps(driven, script);
  return { driven, figures: figuresOf(driven, script.end.given), obstacle };
};

const performSteps = (driven: Drive, { steps, end }: Script): Obstacle | null => {
  let between: Given[] = [];
  let k = 0;
  for (const step of steps) {
    if (step.type === "given") {
      between.push(step);
      continue;
    }
    const obstacle = feed(driven, between, true) ?? callModel(driven, k++, step);
    if (obstacle !== null) return obstacle;
    between = [];
  }
  const obstacle = (between.length === 0 ? null : feed(driven, between, false)) ?? endObstacle(driven, end);
  return obstacle === null || end.unfit === null
    ? obstacle
    : inexpressible(obstacle.step, `it ends as no thread does: ${end.unfit}`);
};

const callModel = (driven: Drive, k: number, step: Reply): Obstacle | null => {
  const { index, draft, calls, finishReason, usage } = step;
  const call = soleCall(driven);
  if (typeof call === "string") {
    const phase = phaseOf(driven.state);
    return difference(index, `a model call should be out, and nothing else; out is ${call} (${phase})`);
  }
  const wrong = step.promptDifference(call.messages);
  if (wrong !== null) return difference(index, `model call ${k}${wrong}`);
  if (Either.isLeft(draft)) return inexpressible(index, `the reply: ${draft.left}`);
  if (calls.length > 0 && saysCut(finishReason))
    return inexpressible(index, `the calls of a reply that was cut (${JSON.stringify(finishReason)}) are never run`);
  const refused = send(driven, {
    type: "llm.completed",
    effectId: call.id,
    reply: draft.right,
    finishReason,
    ...(usage === undefined ? {} : { usage }),
    promptDigest: call.promptDigest,
  });
  const words = refused ?? toolCallsDifference(driven, calls);
  return words === null ? null : difference(index, words);
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

const endObstacle = (driven: Drive, end: Ending): Obstacle | null => {
  const words = endDifference(driven, end);
  if (words !== null) return difference(null, words);
  const journal = journalDifference(driven.machine, driven.entries, driven.state);
  return journal === null ? null : difference(null, `the journal: ${journal}`);
};

const endDifference = (driven: Drive, end: Ending): string | null => {
  const { system } = driven.state.context.conversation;
  const phase = phaseOf(driven.state);
  if (end.phase !== null && end.phase !== phase)
    return `the machine ends in ${phase}; ${end.phaseOf} should leave it in ${end.phase}`;
  const wrong = end.messagesDifference([...(system === null ? [] : [system]), ...messagesOf(driven.state)]);
  if (wrong !== null) return `the final list: ${wrong}`;
  return (
    end.contradiction ?? countDifference(driven, end) ?? usageDifference(driven, end) ?? reasonsDifference(driven, end)
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

const usageDifference = ({ state }: Drive, { usage }: Ending): string | null => {
  const { total } = state.context.usage;
  for (const field of ["inputTokens", "outputTokens", "totalTokens"] as const) {
    const [tally, { name, sum, reported }] = [total[field], usage[field]];
    // If the provider left a total out, the machine has the sum of the parts, but the recording has nothing.
    if (field === "totalTokens" && tally.reported > reported) continue;
    if (tally.reported !== reported)
      return `${name}: the machine has them of ${tally.reported} calls, ${reported} reported them`;
    if (typeof sum === "number" && sum !== tally.sum) return `${name}: came ${tally.sum}, recorded ${sum}`;
  }
  return null;
};

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
