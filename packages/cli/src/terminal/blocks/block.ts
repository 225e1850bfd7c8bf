import type { Content } from "@colloquy/machine";
import type { MarkdownBlock } from "../markdown/markdown-block.ts";

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
  /** A call in full, before the person is asked whether it may run. */
  | { readonly type: "call"; readonly name: string; readonly arguments: string }
  | ApprovalBlock
  /** Retries, waiting, summaries, results of commands. */
  | { readonly type: "notice"; readonly text: string; readonly level: "dim" | "warning" | "error" }
  /** `Agent (1523ms, 3 iter, 2.1k tok)` */
  | { readonly type: "figures"; readonly text: string };

/** The result of a question that was sent while an answer was running. */
export type QuestionFate = "asked" | "steered" | "returned" | "dropped";

/** A tool call with its result so far. */
export interface ToolBlock {
  readonly type: "tool";
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
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
  readonly arguments: string;
  /** Its call is shown with all of its arguments, and the person is asked. */
  readonly isAsked: boolean;
  readonly answer: "approved" | "denied" | null;
}
