import {
  type Content,
  contentText,
  type Json,
  type Message,
  type Part,
  type RequestApproval,
  type ToolResultPart,
  type Turn,
} from "@colloquy/machine";
import { type MarkdownBlock, markdownBlocks } from "../markdown/markdown-stream.ts";
import { outcomeText } from "../text/failure-text.ts";
import { figuresOf } from "../text/figures.ts";

/**
 * A part of a displayed conversation. It is written once when it is finished, and redrawn while it is open. A streaming
 * answer is several blocks: each final Markdown block is finished, and the last one is open.
 */
export type Block =
  | {
      readonly type: "question";
      readonly text: string;
      readonly fate: QuestionFate;
      /** The title above it in a transcript: its turn and its role. */
      readonly title?: string;
    }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "answer"; readonly markdown: readonly MarkdownBlock[] }
  | { readonly type: "refusal"; readonly text: string }
  | ToolBlock
  | CallBlock
  | ApprovalBlock
  | { readonly type: "notice"; readonly text: string; readonly level: "dim" | "warning" | "error" }
  /** `Agent (1.5 s, 3 steps, 2.1k tokens: 2.0k in, 120 out)` */
  | { readonly type: "figures"; readonly text: string };

/** The result of a question that was sent while an answer was running. */
type QuestionFate = "asked" | "steered" | "returned" | "dropped";

/** A call in full, before the person is asked whether it may run. */
export interface CallBlock {
  readonly type: "call";
  readonly name: string;
  readonly arguments: Json;
  /** The file that it would change; null if its arguments name none. */
  readonly change: FileChange | null;
}

/** A change of a file that the arguments of a call describe. */
export interface FileChange {
  readonly title: string;
  /** The lines of a unified difference: after `+`, `-` or a space, the text of a line. Empty if none can be shown. */
  readonly lines: readonly string[];
}

export interface ToolBlock {
  readonly type: "tool";
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** The call is shown above with all of its arguments, for its approval. */
  readonly isShown?: true;
  /** The time that it has been running, if that is long. */
  readonly ranMs?: number;
  readonly result: { readonly outcome: string; readonly content: Content | null } | null;
}

/** A tool call that waits for approval. The person is asked about one at a time. */
export interface ApprovalBlock {
  readonly type: "approval";
  readonly id: string;
  /** The digest of the shown call; an answer applies only to that call. */
  readonly digest: string;
  /** The id of its tool block's call. */
  readonly callId: string;
  readonly name: string;
  readonly arguments: Json;
  readonly because: RequestApproval["because"];
  /** It is an approval of another thread, such as that of a subagent. */
  readonly isNested?: true;
  /** Its call is shown with all of its arguments, and the person is asked. */
  readonly isAsked: boolean;
  readonly answer: "approved" | "denied" | null;
}

/** Converts messages to the blocks that were shown while they streamed; a call and its result are one block. */
export const messageBlocks = (messages: readonly Message[]): readonly Block[] => {
  const parts = messages.flatMap((message) => message.parts);
  const called = new Set(parts.map((part) => (part.type === "toolCall" ? part.callId : null)));
  const results = new Map(parts.flatMap((part) => (part.type === "toolResult" ? [[part.callId, part] as const] : [])));
  return messages.flatMap((message): readonly Block[] => {
    const said = message.parts.filter((part) => part.type !== "toolResult" || !called.has(part.callId));
    return [
      ...(message.role === "assistant" || message.role === "tool"
        ? said.map((part) => partBlock(part, results))
        : [{ type: "question", text: contentText(said), fate: "asked" } as const]),
      ...marksOf(message).map((mark): Block => ({ type: "notice", text: `(${mark})`, level: "warning" })),
    ];
  });
};

export const endBlocks = (turn: Turn): readonly Block[] => {
  const failure = outcomeText(turn.outcome);
  return [
    ...(failure === "" ? [] : [{ type: "notice", text: failure, level: "error" } as const]),
    { type: "figures", text: figuresOf(turn) },
  ];
};

const partBlock = (part: Part, results: ReadonlyMap<string, ToolResultPart>): Block => {
  switch (part.type) {
    case "reasoning":
      return { type: "thinking", text: part.text };
    case "refusal":
      return { type: "refusal", text: part.text };
    case "toolCall":
      return { ...part, type: "tool", result: results.get(part.callId) ?? null };
    case "toolResult":
      return { ...part, type: "tool", arguments: "", result: part };
    default:
      return { type: "answer", markdown: markdownBlocks(contentText([part])) };
  }
};

const marksOf = ({ parts, incomplete, synthesised, truncated }: Message): readonly string[] => [
  ...(parts.length === 0 ? ["empty"] : []),
  ...(incomplete === true ? ["it ended early"] : []),
  ...(synthesised === true ? ["made so that the thread stays whole"] : []),
  ...(truncated === undefined ? [] : [`cut from ${truncated.characters} characters`]),
];
