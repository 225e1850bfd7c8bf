import type { AskPart } from "@colloquy/host";
import type { RequestApproval } from "@colloquy/machine";
import type { TerminalAsk } from "../conversation/answering.ts";
import { noteOf } from "../text/notice.ts";
import type { Printer } from "../text/printer.ts";

/** How answers are shown. */
export interface AnswerLook {
  readonly printer: Printer;
  /** Where all but answers goes: the same, or another. */
  readonly errors: Printer;
  /** Whether answers are shown as they come. */
  readonly streams: boolean;
  /** How much is shown beside answers. */
  readonly detail: "none" | "some" | "all";
  /** Whether words say what each thing is, for those who hear it. */
  readonly labels: boolean;
  /** Answers an approval. False where nobody does. */
  readonly approve: (request: RequestApproval) => Promise<boolean>;
}

/** Shows an answer as it comes. Rejects with what there is in place of one; false where the turn goes on waiting for an approval. */
export const showAnswer = async (asked: TerminalAsk, look: AnswerLook): Promise<boolean> => {
  const { printer, errors, streams } = look;
  let before: AskPart["type"] | undefined;
  let isShown = false;
  for await (const part of asked) {
    if (before === "reasoning.delta" && part.type !== before) errors.endLine();
    // What a model says before it calls tools is not gone on with.
    if (part.type === "step.started") printer.endLine();
    const isText = part.type === "text.delta" || part.type === "refusal.delta";
    if (isText && streams) {
      if (!isShown && look.labels) printer.line("Agent:");
      isShown = true;
      printer.text(part.text);
    } else if (part.type === "approval.requested") {
      if (!(await look.approve(part.request))) return false;
    } else if (part.type === "reasoning.delta") {
      // Without colours it would look like the answer.
      if (!errors.colour || !streams || look.detail === "none") continue;
      if (before !== part.type && look.labels) errors.line("Thinking:");
      errors.text(part.text, "dim");
    } else showNote(part, look);
    if (part.type === "step.started" || part.type === "thread.lost") isShown = false;
    before = part.type;
  }
  const { text } = await asked;
  // Where another process answers, there is only what it journalled.
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
