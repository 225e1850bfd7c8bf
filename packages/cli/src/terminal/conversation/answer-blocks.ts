import type { AskPart } from "@colloquy/host";
import type { Json, RequestApproval } from "@colloquy/machine";
import { oneLine } from "../text/printable.ts";
import { noticeOf } from "../text/notice.ts";
import { type MarkdownBlock, MarkdownStream } from "../markdown/markdown-stream.ts";
import type { ApprovalBlock, Block, FileChange, ToolBlock } from "../blocks/block.ts";

/** The displayed blocks of an answer, as its parts arrive: plain data. */
export interface AnswerBlocks {
  /** In order; none of them changes any more. */
  readonly finished: readonly Block[];
  /** The blocks after them, which may still change or become void. */
  readonly open: readonly Block[];
  /** Whether the last open block is a text that still grows. */
  readonly grows: boolean;
  /** The parser of the growing answer. After another part, text shown before it cannot continue. */
  readonly markdown: MarkdownStream | null;
  readonly step: number;
  readonly attempt: number;
  /** By step, the number of finished blocks when its present attempt began. Later blocks belong to the attempt. */
  readonly begun: ReadonlyMap<number, number>;
  /** The model's text in the present step. */
  readonly said: string;
  /** The resource that the answer waits for before anything can arrive. */
  readonly waits: "lease" | "model" | null;
}

export const noBlocks: AnswerBlocks = {
  finished: [],
  open: [],
  grows: false,
  markdown: null,
  step: 0,
  attempt: 1,
  begun: new Map(),
  said: "",
  waits: null,
};

/**
 * Returns the blocks after another part.
 *
 * @param streams whether to finish the final part of a growing answer at once
 */
export const withPart = (before: AnswerBlocks, part: AskPart, streams: boolean): AnswerBlocks => {
  const isOfStep = "step" in part && part.type !== "replay.started";
  const blocks = isOfStep
    ? inStep(before, part.step, "attempt" in part && part.type !== "output.partial" ? part.attempt : null)
    : before;
  switch (part.type) {
    case "text.delta":
      return settled(withAnswer({ ...blocks, said: blocks.said + part.text }, part.text), streams);
    case "refusal.delta":
      return settled(withText({ ...blocks, said: blocks.said + part.text }, "refusal", part.text));
    case "reasoning.delta":
      return settled(withText(blocks, "thinking", part.text));
    case "toolCall.delta":
      return settled(
        withTool(blocks, part, (tool) => ({ name: part.name, arguments: tool.arguments + part.arguments })),
      );
    case "toolCall":
      return settled(withTool(blocks, part, () => ({ name: part.name, arguments: part.arguments })));
    case "toolResult": {
      const { outcome, content } = part;
      // The answer may have come from anywhere: a call with a result no longer waits. A call that was interrupted, or
      // cut off by a crash, may have been waiting.
      const answer =
        outcome === "interrupted" || outcome === "unknown" ? null : outcome === "refused" ? "denied" : "approved";
      const all = answered(blocks, answer, (approval) => approval.isNested !== true && approval.callId === part.callId);
      return settled(withTool(all, part, () => ({ result: { outcome, content } })));
    }
    case "approval.requested":
      return withRequest(blocks, part.request);
    case "result.requested":
      return withNotice(
        withTool(blocks, part, () => ({ arguments: part.arguments })),
        `${oneLine(part.name)} waits for whoever asked to answer call ${part.callId}`,
      );
    case "step.ended":
    case "turn.ended":
      return { ...closed(blocks), waits: null };
    case "signal":
      if (part.signal.type === "retry.scheduled")
        return { ...voided(blocks, blocks.step, noticeOf(part.signal)), attempt: part.signal.attempt };
      // A text that was sent into the turn is shown below until the model reads it.
      if (part.signal.type === "ask.joined") return blocks;
      return withNotice(blocks, noticeOf(part.signal), part.signal.type === "context.warning" ? "warning" : "dim");
    case "wait.started":
      return { ...blocks, waits: part.for };
    case "wait.ended":
      return { ...blocks, waits: null };
    case "thread.forked":
      return withNotice(blocks, `the thread is busy; it goes on as thread ${oneLine(part.threadId)}`, "warning");
    case "thread.lost":
      return voided(blocks, blocks.step, "another process went on with the thread");
    case "replay.started":
      return voided(blocks, part.step, null);
    case "parts.dropped":
      return withNotice(blocks, "…");
    case "turn.started":
    case "step.started":
    case "output.partial":
      return blocks;
  }
};

/** Adds a block, before a growing text, so that it does not split that text. */
export const withBlock = (blocks: AnswerBlocks, block: Block): AnswerBlocks => {
  const { open, grows } = blocks;
  const index = grows ? open.length - 1 : open.length;
  return settled({ ...blocks, open: open.toSpliced(index, 0, block) });
};

/** Adds a question that the model has read, after all blocks of the step before. */
export const withRead = (blocks: AnswerBlocks, question: Block): AnswerBlocks => withBlock(closed(blocks), question);

/**
 * Marks the first waiting approval as asked. Its call is finished at once, so that all of it can be scrolled back to.
 *
 * @param changeOf returns the file that a call with such arguments would change
 */
export const withQuestion = (
  blocks: AnswerBlocks,
  changeOf: (given: Json) => FileChange | null = () => null,
): AnswerBlocks => {
  const first = blocks.open.find((block) => block.type === "approval");
  if (first === undefined || first.isAsked) return blocks;
  const call: Block = { type: "call", name: first.name, arguments: first.arguments, change: changeOf(first.arguments) };
  const asked = changed(blocks, (block) => {
    if (block.type === "tool" && first.isNested !== true && block.callId === first.callId)
      return { ...block, isShown: true };
    return block === first ? { ...first, isAsked: true } : block;
  });
  return { ...asked, finished: [...blocks.finished, call] };
};

/** Asks for the approvals that tools wait for on other threads, and for none that they wait for no longer. */
export const withNested = (
  blocks: AnswerBlocks,
  waiting: readonly { readonly request: RequestApproval; readonly by: string }[],
): AnswerBlocks => {
  const ids = new Set(waiting.map(({ request }) => request.id));
  const open = blocks.open.filter((block) => block.type !== "approval" || block.isNested !== true || ids.has(block.id));
  const known = new Set([...blocks.finished, ...open].map((block) => (block.type === "approval" ? block.id : null)));
  return waiting
    .filter(({ request }) => !known.has(request.id))
    .reduce<AnswerBlocks>(
      (before, { request, by }) =>
        withBlock(before, { ...approvalOf(request), name: `${request.name} of subagent ${by}`, isNested: true }),
      { ...blocks, open },
    );
};

export const withApproval = (
  blocks: AnswerBlocks,
  { id }: ApprovalBlock,
  answer: "approved" | "denied",
): AnswerBlocks => settled(answered(blocks, answer, (approval) => approval.id === id));

/** Ends the answer. If parts of it were lost, corrects the shown text to the answer's text; null if that is unknown. */
export const withWhole = (blocks: AnswerBlocks, text: string | null): AnswerBlocks => {
  const { said } = blocks;
  if (text === null || bare(said) === bare(text)) return closed(blocks);
  if (text.startsWith(said)) return closed(withAnswer(blocks, text.slice(said.length)));
  const anew = voided(blocks, blocks.step, "not all of the answer was shown as it came; this is all of it");
  return closed(text === "" ? anew : withAnswer(anew, text));
};

/** Removes white space, because each reader chooses the separators between the texts of a message. */
const bare = (text: string): string => text.replaceAll(/\s+/g, "");

/** Begins a later step, or another attempt at the present one, if a part belongs to it. */
const inStep = (blocks: AnswerBlocks, step: number, attempt: number | null): AnswerBlocks => {
  if (step > blocks.step) {
    const all = closed(blocks);
    return { ...all, step, attempt: attempt ?? 1, begun: new Map(all.begun).set(step, all.finished.length), said: "" };
  }
  if (step < blocks.step || attempt === null || attempt === blocks.attempt) return blocks;
  return { ...voided(blocks, step, null), attempt };
};

/** Marks the shown blocks of a step, and of later ones, as void, with a notice if they cannot be removed any more. */
const voided = (blocks: AnswerBlocks, step: number, why: string | null): AnswerBlocks => {
  const steps = [...blocks.begun].filter(([begun]) => begun >= step);
  const from = Math.min(blocks.finished.length, ...steps.map(([, index]) => index));
  const isShown = blocks.finished.slice(from).some(isOfModel);
  const words = [why ?? [], isShown ? "what is shown above of this step is void" : []].flat().join("; ");
  const kept = [...blocks.finished, ...blocks.open.filter((block) => !isOfModel(block))];
  const finished: readonly Block[] =
    words === "" ? kept : [...kept, { type: "notice", text: words, level: isShown ? "warning" : "dim" }];
  const begun = new Map([...blocks.begun].filter(([earlier]) => earlier < step)).set(step, finished.length);
  return { ...blocks, finished, open: [], grows: false, markdown: null, step, begun, said: "" };
};

const isOfModel = ({ type }: Block): boolean => type !== "notice" && type !== "question";

const withText = (blocks: AnswerBlocks, type: "refusal" | "thinking", text: string): AnswerBlocks => {
  const last = blocks.grows ? blocks.open.at(-1) : undefined;
  return last?.type === type
    ? { ...blocks, open: [...blocks.open.slice(0, -1), { type, text: last.text + text }] }
    : { ...withOpen(blocks, { type, text }), grows: true };
};

const withAnswer = (blocks: AnswerBlocks, text: string): AnswerBlocks => {
  const markdown = blocks.markdown ?? new MarkdownStream();
  markdown.add(text);
  const { open } = blocks.markdown === null ? ended(blocks) : { open: blocks.open.slice(0, -1) };
  return { ...blocks, open: [...open, growing(markdown)], grows: true, markdown };
};

/**
 * Returns the end of a growing answer. It is computed when it is drawn, because frames are fewer than parts and a line
 * may be long.
 */
const growing = (markdown: MarkdownStream): Block => ({
  type: "answer",
  get markdown() {
    return markdown.open();
  },
});

const ended = (blocks: AnswerBlocks): AnswerBlocks => {
  const rest = blocks.markdown?.end() ?? null;
  const open = rest === null ? blocks.open : [...blocks.open.slice(0, -1), ...answerOf(rest)];
  return { ...blocks, open, grows: false, markdown: null };
};

const answerOf = (markdown: readonly MarkdownBlock[]): readonly Block[] =>
  markdown.length === 0 ? [] : [{ type: "answer", markdown }];

const withOpen = (blocks: AnswerBlocks, block: Block): AnswerBlocks => {
  const before = ended(blocks);
  return { ...before, open: [...before.open, block] };
};

const withNotice = (blocks: AnswerBlocks, text: string | null, level: "dim" | "warning" = "dim"): AnswerBlocks =>
  text === null ? blocks : withBlock(blocks, { type: "notice", text, level });

/** Changes the tool block of a call, and creates it if necessary. */
const withTool = (
  blocks: AnswerBlocks,
  { callId, name }: Pick<ToolBlock, "callId" | "name">,
  change: (tool: ToolBlock) => Partial<ToolBlock>,
): AnswerBlocks => {
  const isIt = (block: Block): boolean => block.type === "tool" && block.callId === callId;
  const known = blocks.open.some(isIt)
    ? blocks
    : withOpen(blocks, { type: "tool", callId, name, arguments: "", result: null });
  return changed(known, (block) => (block.type === "tool" && isIt(block) ? { ...block, ...change(block) } : block));
};

const withRequest = (blocks: AnswerBlocks, request: RequestApproval): AnswerBlocks => {
  if (blocks.open.some((block) => block.type === "approval" && block.id === request.id)) return blocks;
  return withOpen(
    withTool(blocks, request, (tool) => ({ arguments: tool.arguments || JSON.stringify(request.arguments) })),
    approvalOf(request),
  );
};

const approvalOf = ({ id, digest, callId, name, arguments: given, because }: RequestApproval): ApprovalBlock => ({
  type: "approval",
  id,
  digest,
  callId,
  name,
  arguments: given,
  because,
  isAsked: false,
  answer: null,
});

/** Finishes an answered approval at once, below its call. */
const answered = (
  blocks: AnswerBlocks,
  answer: ApprovalBlock["answer"],
  isIt: (approval: ApprovalBlock) => boolean,
): AnswerBlocks => {
  const approvals = blocks.open.filter((block) => block.type === "approval").filter(isIt);
  const open = blocks.open.filter((block) => block.type !== "approval" || !approvals.includes(block));
  return { ...blocks, open, finished: [...blocks.finished, ...approvals.map((approval) => ({ ...approval, answer }))] };
};

const changed = (blocks: AnswerBlocks, change: (block: Block) => Block): AnswerBlocks => ({
  ...blocks,
  open: blocks.open.map(change),
});

const closed = (blocks: AnswerBlocks): AnswerBlocks => {
  if (blocks.open.length === 0) return blocks;
  const all = ended(blocks);
  return { ...all, finished: [...all.finished, ...all.open], open: [] };
};

/** Finishes the first blocks that can no longer change, and the final part of a growing answer. */
const settled = (blocks: AnswerBlocks, streams = false): AnswerBlocks => {
  const { open, grows, markdown } = blocks;
  const waiting = open.findIndex((block, index) => !isFinal(block) || (grows && index === open.length - 1));
  const count = waiting === -1 ? open.length : waiting;
  const final = streams && markdown !== null && count === open.length - 1 ? answerOf(markdown.take()) : [];
  return count === 0 && final.length === 0
    ? blocks
    : { ...blocks, finished: [...blocks.finished, ...open.slice(0, count), ...final], open: open.slice(count) };
};

const isFinal = (block: Block): boolean => (block.type === "tool" ? block.result !== null : block.type !== "approval");
