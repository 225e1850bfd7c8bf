import type { AskPart } from "@colloquy/host";
import type { RequestApproval } from "@colloquy/machine";
import type { TerminalAsk } from "../conversation/answering.ts";
import { noteOf } from "../text/notice.ts";
import type { Printer } from "../text/printer.ts";

/** The display options of answers. */
export interface AnswerLook {
  readonly printer: Printer;
  /** The printer for everything except answers: the same, or another. */
  readonly errors: Printer;
  /** Whether answers are shown as they stream in. */
  readonly streams: boolean;
  /** The amount of output beside answers. */
  readonly detail: "none" | "some" | "all";
  /** Whether text labels name each kind of output, for users of screen readers. */
  readonly labels: boolean;
  /** Answers an approval. Returns false if nobody answers it. */
  readonly approve: (request: RequestApproval) => Promise<boolean>;
}

/**
 * Shows an answer as it streams in. Rejects with the error that replaces it; returns false if the turn still waits for
 * an approval.
 */
export const showAnswer = async (asked: TerminalAsk, look: AnswerLook): Promise<boolean> => {
  const { printer, errors, streams } = look;
  let before: AskPart["type"] | undefined;
  let isShown = false;
  for await (const part of asked) {
    if (before === "reasoning.delta" && part.type !== before) errors.endLine();
    // Text before tool calls does not continue after them.
    if (part.type === "step.started") printer.endLine();
    const isText = part.type === "text.delta" || part.type === "refusal.delta";
    if (isText && streams) {
      if (!isShown && look.labels) printer.line("Agent:");
      isShown = true;
      printer.text(part.text);
    } else if (part.type === "approval.requested") {
      if (!(await look.approve(part.request))) return false;
    } else if (part.type === "reasoning.delta") {
      // Without colours, thinking would look like the answer.
      if (!errors.colour || !streams || look.detail === "none") continue;
      if (before !== part.type && look.labels) errors.line("Thinking:");
      errors.text(part.text, "dim");
    } else showNote(part, look);
    if (part.type === "step.started" || part.type === "thread.lost") isShown = false;
    before = part.type;
  }
  const { text } = await asked;
  // If another process answers, only its journalled text is available.
  if (!isShown) printer.text(look.labels ? `Agent:\n${text}` : text);
  printer.endLine();
  return true;
};

const showNote = (part: AskPart, { printer, errors, detail, labels }: AnswerLook): void => {
  const note = detail === "none" ? null : noteOf(part, detail === "all");
  if (note === null) return;
  printer.endLine();
  const label = part.type === "toolCall" || part.type === "toolResult" ? "Tool:" : "Note:";
  errors.line(`${labels ? label : " "} ${note}`, "dim");
};
