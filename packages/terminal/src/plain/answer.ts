import type { AskHandle, AskPart, AskSignal } from "@colloquy/host";
import type { Json } from "@colloquy/machine";
import { contentWords, noticeOf } from "../text/notice.ts";
import { oneLine, shortened } from "../text/printable.ts";
import type { Printer } from "../text/printer.ts";

/** Shows an answer as it comes. Rejects with what there is in place of one. */
export const showAnswer = async (printer: Printer, asked: AskHandle | AskHandle<Json>): Promise<void> => {
  let before: AskPart["type"] | undefined;
  let isShown = false;
  for await (const part of asked) {
    if (before === "reasoning.delta" && part.type !== before) printer.endLine();
    showPart(printer, part);
    before = part.type;
    if (part.type === "text.delta" || part.type === "refusal.delta") isShown = true;
    else if (part.type === "step.started" || part.type === "thread.lost") isShown = false;
  }
  const { text } = await asked;
  // Where another process answers, there is only what it journalled.
  if (!isShown) printer.text(text);
};

const showPart = (printer: Printer, part: AskPart): void => {
  switch (part.type) {
    case "text.delta":
    case "refusal.delta":
      return printer.text(part.text);
    case "reasoning.delta":
      // Without colours it would look like the answer.
      return printer.colour ? printer.text(part.text, "dim") : undefined;
    case "toolCall":
      return printer.line(`  ${oneLine(part.name)} ${shortened(part.arguments)}`, "dim");
    case "toolResult":
      if (part.outcome === "completed") return;
      return printer.line(`  ${oneLine(part.name)} ${part.outcome}: ${shortened(contentWords(part.content))}`, "dim");
    case "signal":
      return showSignal(printer, part.signal);
    case "approval.requested":
      return printer.line(`  ${oneLine(part.request.name)} waits for an approval: ${oneLine(part.request.id)}`, "dim");
    case "result.requested":
      return printer.line(`  ${oneLine(part.name)} waits for whoever asked to answer call ${part.callId}`, "dim");
    case "wait.started":
      return printer.line("  waiting for the process that has the thread, or for its lease to run out", "dim");
    case "thread.forked":
      return printer.line(`  the thread is busy; it goes on as thread ${oneLine(part.threadId)}`, "dim");
    case "thread.lost":
      return printer.line("  another process went on with the thread; what was shown is void", "dim");
    case "replay.started":
      return printer.line("  what was shown of this step is void; it is shown anew", "dim");
    case "parts.dropped":
      return printer.line("  …", "dim");
    case "wait.ended":
    case "turn.started":
    case "step.started":
    case "toolCall.delta":
    case "output.partial":
    case "step.ended":
    case "turn.ended":
  }
};

const showSignal = (printer: Printer, signal: AskSignal): void => {
  const notice = noticeOf(signal);
  if (notice !== null) printer.line(`  ${notice}`, "dim");
};
