import type { Content } from "@colloquy/machine";
import type { MarkdownBlock } from "../markdown/markdown-block.ts";

/**
 * One thing that a conversation shows: written once when it is finished, and redrawn while it is open. A streaming
 * answer is several: each Markdown block that is final is finished, and the last one is open.
 */
export type Block =
  | {
      readonly type: "question";
      readonly text: string;
      readonly fate: QuestionFate;
      /** Above it, in a transcript: its turn and who said it. */
      readonly title?: string;
    }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "answer"; readonly markdown: readonly MarkdownBlock[] }
  | { readonly type: "refusal"; readonly text: string }
  | ToolBlock
  /** A call as it is put to the person, before they are asked whether it may run. */
  | { readonly type: "call"; readonly name: string; readonly arguments: string }
  | ApprovalBlock
  /** Retries, waiting, summaries, what a command did. */
  | { readonly type: "notice"; readonly text: string; readonly level: "dim" | "warning" | "error" }
  /** `Agent (1523ms, 3 iter, 2.1k tok)` */
  | { readonly type: "figures"; readonly text: string };

/** What became of a question that was sent while an answer ran. */
export type QuestionFate = "asked" | "steered" | "returned" | "dropped";

/** A tool call with its result as far as it is there. */
export interface ToolBlock {
  readonly type: "tool";
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly result: { readonly outcome: string; readonly content: Content | null } | null;
}

/** A tool call that waits for a yes or no: in turn, so the person is asked about one at a time. */
export interface ApprovalBlock {
  readonly type: "approval";
  readonly id: string;
  /** The digest of what is shown: an answer is about that alone. */
  readonly digest: string;
  /** That of its tool block. */
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** Its call is shown with all of its arguments, and the person is asked. */
  readonly isAsked: boolean;
  readonly answer: "approved" | "denied" | null;
}
