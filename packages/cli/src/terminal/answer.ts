import type { AskHandle, AskPart } from "@colloquy/host";
import type { Content, Signal } from "@colloquy/machine";
import type { Screen } from "./screen.ts";

/** Shows an answer as it comes. Rejects with what there is in place of one. */
export const showAnswer = async (screen: Screen, asked: AskHandle): Promise<void> => {
  let before: AskPart["type"] | undefined;
  for await (const part of asked) {
    if (before === "reasoning.delta" && part.type !== before) screen.endLine();
    showPart(screen, part);
    before = part.type;
  }
  await asked;
};

const showPart = (screen: Screen, part: AskPart): void => {
  switch (part.type) {
    case "text.delta":
    case "refusal.delta":
      return screen.text(part.text);
    case "reasoning.delta":
      // Without colours nobody could tell it from the answer.
      return screen.colour ? screen.text(part.text, "dim") : undefined;
    case "toolCall":
      return screen.line(`  ${part.name} ${shortened(part.arguments)}`, "dim");
    case "toolResult":
      if (part.outcome === "completed") return;
      return screen.line(`  ${part.name} ${part.outcome}: ${shortened(textOfContent(part.content))}`, "dim");
    case "signal":
      return showSignal(screen, part.signal);
    case "parts.dropped":
      return screen.line("  …", "dim");
    case "turn.started":
    case "step.started":
    case "toolCall.delta":
    case "step.ended":
    case "turn.ended":
  }
};

const showSignal = (screen: Screen, signal: Signal): void => {
  switch (signal.type) {
    case "retry.scheduled":
      return screen.line(`  ${signal.because}: trying again (attempt ${signal.attempt})`, "dim");
    case "ask.queued":
      return screen.line("  an earlier turn is ended first", "dim");
    case "policy.failed":
      return screen.line(`  ${shortened(signal.reason)}: all is shown instead`, "dim");
    // What ends a turn early is told by the error that it ends with.
    case "limit.reached":
    case "turn.started":
    case "turn.ended":
    case "ask.withdrawn":
  }
};

const textOfContent = (content: Content | null): string => {
  if (content === null || typeof content === "string") return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
};

const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1)}…`;
};

const lengthMax = 100;
