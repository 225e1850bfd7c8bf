import type { AskReceived, CallTool, MessageDraft, SeedDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { RecordedMessage, RecordedResult, RecordedStep, RecordedUser } from "./case.ts";
import { type Drive, tell, toolCallsOut } from "./drive.ts";
import { type Drafted, messageDraft, resultContent, writtenDraft } from "./drafts.ts";
import { difference, inexpressible, type Obstacle } from "./obstacle.ts";

/** A step that is no model call, and its place in the recording. */
export interface FedStep {
  readonly index: number;
  readonly step: Exclude<RecordedStep, { type: "llm" }>;
}

/**
 * Tells the machine all that a recording has between two model calls. While tools are out it is the results of
 * their round, and what else was said waits for the last of them, for the model is called as soon as that is
 * in; otherwise an ask opens a turn, behind whatever was put there before it.
 */
export const feed = (driven: Drive, steps: readonly FedStep[], callFollows: boolean): Obstacle | null =>
  toolCallsOut(driven).length > 0 ? feedRound(driven, steps) : feedGap(driven, steps, callFollows);

const feedRound = (driven: Drive, steps: readonly FedStep[]): Obstacle | null => {
  const results = steps.flatMap(({ index, step }) => (step.type === "tool" ? [{ index, step }] : []));
  const closing = results.length === toolCallsOut(driven).length ? results.at(-1) : undefined;
  for (const result of results) {
    if (result === closing) continue;
    const obstacle = giveResult(driven, result);
    if (obstacle !== null) return obstacle;
  }
  for (const { index, step } of steps) {
    if (step.type === "tool") continue;
    const obstacle = append(driven, index, step);
    if (obstacle !== null) return obstacle;
  }
  return closing === undefined ? null : giveResult(driven, closing);
};

const feedGap = (driven: Drive, steps: readonly FedStep[], callFollows: boolean): Obstacle | null => {
  const lastOther = steps.findLastIndex(({ step }) => step.type !== "user");
  const before = steps.slice(0, lastOther + 1);
  const obstacle = before.some(({ step }) => isPartOfRound(step)) ? write(driven, before) : appendAll(driven, before);
  if (obstacle !== null) return obstacle;
  const asked = steps.slice(lastOther + 1);
  return asked.length > 0 || callFollows ? ask(driven, asked) : null;
};

/** One user message is asked as it is, several as a list, and none lets the model go on from where the thread stands. */
const ask = (driven: Drive, steps: readonly FedStep[]): Obstacle | null => {
  const drafts: MessageDraft[] = [];
  for (const { index, step } of steps) {
    if (step.type === "tool") return difference(index, "a tool result where a user should ask");
    const draft = messageDraft(step);
    if (Either.isLeft(draft)) return inexpressible(index, draft.left);
    drafts.push(draft.right);
  }
  const askId = `ask-${driven.entries.length}`;
  return heard(steps[0]?.index ?? null, tell(driven, { type: "ask.received", askId, ...inputOf(drafts) }));
};

const inputOf = (drafts: readonly MessageDraft[]): Pick<AskReceived, "input" | "name"> => {
  const [only] = drafts;
  // Nothing as content is no message; an empty message is one.
  if (only === undefined || drafts.length > 1 || only.content.length === 0) return { input: drafts };
  return { input: only.content, ...(only.name === undefined ? {} : { name: only.name }) };
};

const appendAll = (driven: Drive, steps: readonly FedStep[]): Obstacle | null => {
  for (const { index, step } of steps) {
    if (step.type === "tool") return difference(index, "a tool result while no tool is out");
    const obstacle = append(driven, index, step);
    if (obstacle !== null) return obstacle;
  }
  return null;
};

const append = (driven: Drive, index: number, step: RecordedUser | RecordedMessage): Obstacle | null => {
  const draft = messageDraft(step);
  if (Either.isLeft(draft)) return inexpressible(index, draft.left);
  return heard(index, tell(driven, { type: "message.appended", message: draft.right }));
};

/** Rounds that no model asked for here are written into the thread by hand. */
const write = (driven: Drive, steps: readonly FedStep[]): Obstacle | null => {
  const messages: SeedDraft[] = [];
  for (const { index, step } of steps) {
    const draft: Drafted<SeedDraft> = writtenDraft(step);
    if (Either.isLeft(draft)) return inexpressible(index, draft.left);
    messages.push(draft.right);
  }
  return heard(steps[0]?.index ?? null, tell(driven, { type: "turn.added", messages }));
};

const giveResult = (
  driven: Drive,
  { index, step }: { readonly index: number; readonly step: RecordedResult },
): Obstacle | null => {
  const out = toolCallsOut(driven);
  const call = out.find(({ providerCallId }) => providerCallId === step.tool_call_id);
  if (call === undefined) return difference(index, nobodyWaits(step, out));
  const content = resultContent(step);
  if (Either.isLeft(content)) return inexpressible(index, content.left);
  return heard(index, tell(driven, { type: "tool.completed", effectId: call.id, content: content.right }));
};

const nobodyWaits = (step: RecordedResult, out: readonly CallTool[]): string =>
  `no call waits for the result of ${JSON.stringify(step.tool_call_id)}; out are ${JSON.stringify(out.map(({ providerCallId }) => providerCallId))}`;

const isPartOfRound = (step: RecordedStep): boolean =>
  step.type === "tool" || (step.type === "message" && Array.isArray(step.message["tool_calls"]));

const heard = (step: number | null, refused: string | null): Obstacle | null =>
  refused === null ? null : difference(step, refused);
