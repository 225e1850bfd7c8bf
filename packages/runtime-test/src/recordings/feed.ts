import type { AskReceived, CallTool, MessageDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { RecordedMessage, RecordedResult, RecordedStep, RecordedUser } from "./case.ts";
import { type Drive, send, toolCallsOut } from "./drive.ts";
import { messageDraft, resultContent, roundDraft } from "./drafts.ts";
import { difference, inexpressible, type Obstacle } from "./obstacle.ts";
import { canonicalOfStep } from "./transcript.ts";

/** A step other than a model call, and its place in the recording. */
export interface FedStep {
  readonly index: number;
  readonly step: Exclude<RecordedStep, { type: "llm" }>;
}

/**
 * Sends the machine all steps between two model calls. If tools are outstanding, these are the results of their round.
 * Other messages are then sent before the last result, because the machine calls the model after it. Otherwise an ask
 * opens a turn, after the messages that the client inserted.
 */
export const feed = (driven: Drive, steps: readonly FedStep[], callFollows: boolean): Obstacle | null =>
  toolCallsOut(driven).length > 0 ? feedRound(driven, steps) : feedGap(driven, steps, callFollows);

const feedRound = (driven: Drive, steps: readonly FedStep[]): Obstacle | null => {
  const pieces = piecesOf(steps);
  const results = pieces.flatMap((piece) => (piece.type === "result" ? [piece] : []));
  const closing = results.length === toolCallsOut(driven).length ? results.at(-1) : undefined;
  for (const result of results) {
    if (result === closing) continue;
    const obstacle = giveResult(driven, result);
    if (obstacle !== null) return obstacle;
  }
  for (const piece of pieces) {
    const obstacle = piece.type === "result" ? null : append(driven, piece);
    if (obstacle !== null) return obstacle;
  }
  return closing === undefined ? null : giveResult(driven, closing);
};

const feedGap = (driven: Drive, steps: readonly FedStep[], callFollows: boolean): Obstacle | null => {
  const lastOther = steps.findLastIndex(({ step }) => step.type !== "user");
  for (const piece of piecesOf(steps.slice(0, lastOther + 1))) {
    const obstacle =
      piece.type === "result" ? difference(piece.index, "a tool result while no tool is out") : append(driven, piece);
    if (obstacle !== null) return obstacle;
  }
  const asked = steps.slice(lastOther + 1);
  return asked.length > 0 || callFollows ? ask(driven, asked) : null;
};

/**
 * A part of the steps between two model calls: a result for the call before, a whole round that the client inserted, or
 * a message.
 */
type Piece =
  | { readonly type: "result"; readonly index: number; readonly step: RecordedResult }
  | {
      readonly type: "round";
      readonly index: number;
      readonly step: RecordedMessage;
      readonly results: readonly RecordedResult[];
    }
  | { readonly type: "message"; readonly index: number; readonly step: RecordedUser | RecordedMessage };

/**
 * Groups the steps. The results after an assistant's message that the client inserted belong to its calls, as many as
 * it has.
 */
const piecesOf = (steps: readonly FedStep[]): readonly Piece[] => {
  const pieces: Piece[] = [];
  for (let place = 0; place < steps.length;) {
    const { index, step } = steps[place++] ?? { index: 0, step: null };
    if (step === null) break;
    const calls = step.type === "message" ? (canonicalOfStep(step).tool_calls?.length ?? 0) : 0;
    if (step.type === "tool") pieces.push({ type: "result", index, step });
    else if (step.type === "user" || calls === 0) pieces.push({ type: "message", index, step });
    else {
      const results: RecordedResult[] = [];
      for (let next = steps[place]?.step; next?.type === "tool" && results.length < calls; next = steps[++place]?.step)
        results.push(next);
      pieces.push({ type: "round", index, step, results });
    }
  }
  return pieces;
};

/**
 * Sends an ask: one user message unchanged, or several as a list. Without one, the model continues from the present
 * thread.
 */
const ask = (driven: Drive, steps: readonly FedStep[]): Obstacle | null => {
  const drafts: MessageDraft[] = [];
  for (const { index, step } of steps) {
    if (step.type === "tool") return difference(index, "a tool result where a user should ask");
    const draft = messageDraft(step);
    if (Either.isLeft(draft)) return inexpressible(index, draft.left);
    drafts.push(draft.right);
  }
  const askId = `ask-${driven.entries.length}`;
  return heard(steps[0]?.index ?? null, send(driven, { type: "ask.received", askId, ...inputOf(drafts) }));
};

const inputOf = (drafts: readonly MessageDraft[]): Pick<AskReceived, "input" | "name"> => {
  const [only] = drafts;
  // Empty content as the input adds no message; a draft with empty content adds an empty one.
  if (only === undefined || drafts.length > 1 || only.content.length === 0) return { input: drafts };
  return { input: only.content, ...(only.name === undefined ? {} : { name: only.name }) };
};

const append = (driven: Drive, piece: Exclude<Piece, { type: "result" }>): Obstacle | null => {
  const { index } = piece;
  if (piece.type === "round") return appendRound(driven, piece);
  const draft = messageDraft(piece.step);
  if (Either.isLeft(draft)) return inexpressible(index, draft.left);
  return heard(index, send(driven, { type: "message.appended", message: draft.right }));
};

const appendRound = (driven: Drive, { index, step, results }: Extract<Piece, { type: "round" }>): Obstacle | null => {
  const round = roundDraft(step, results);
  if (Either.isLeft(round)) return inexpressible(index, round.left);
  const event = { type: "round.appended", ...round.right } as const;
  return heard(index, send(driven, event));
};

const giveResult = (
  driven: Drive,
  { index, step }: { readonly index: number; readonly step: RecordedResult },
): Obstacle | null => {
  const out = toolCallsOut(driven);
  const call = out.find(({ providerCallId }) => providerCallId === step.tool_call_id);
  if (call === undefined) return difference(index, nobodyWaits(step, out));
  if (typeof step.name === "string" && step.name !== call.name)
    return difference(index, `the result is recorded of tool "${step.name}", and its call is of "${call.name}"`);
  const content = resultContent(step);
  if (Either.isLeft(content)) return inexpressible(index, content.left);
  return heard(index, send(driven, { type: "tool.completed", effectId: call.id, content: content.right }));
};

const nobodyWaits = (step: RecordedResult, out: readonly CallTool[]): string =>
  `no call waits for the result of ${JSON.stringify(step.tool_call_id)}; out are ${JSON.stringify(out.map(({ providerCallId }) => providerCallId))}`;

const heard = (step: number | null, refused: string | null): Obstacle | null =>
  refused === null ? null : difference(step, refused);
