// Parts of asks, and the chunks that a page gets of them, in short.
import type { AskPart } from "@colloquy/host";
import type { ToolOutcome } from "@colloquy/machine";
import type { UiMessageChunk } from "../../src/ui/chunk.ts";
import { MessageWriter } from "../../src/ui/message-writer.ts";
export const at = { turn: 1, step: 1, attempt: 1 };
export const started: AskPart = { type: "turn.started", turn: 1, askIds: ["a"] };
export const step = (number: number): AskPart => ({ type: "step.started", turn: 1, step: number });
export const says = (text: string, more: object = {}): AskPart => ({ type: "text.delta", ...at, text, ...more });
export const thinks = (text: string): AskPart => ({ type: "reasoning.delta", ...at, text });
export const refuses = (text: string): AskPart => ({ type: "refusal.delta", ...at, text });
const place = (position: number) => ({ turn: 1, step: 1, position, callId: `1.1.${position}`, name: "look" });
export const writes = (written: string, more: object = {}): AskPart => {
  return { type: "toolCall.delta", ...place(0), attempt: 1, providerCallId: null, arguments: written, ...more };
};
export const calls = (position = 0, more: object = {}): AskPart => {
  return { type: "toolCall", ...place(position), arguments: "{}", ...more };
};
export const awaits = (position = 0): AskPart => ({ type: "result.requested", ...place(position), arguments: "{}" });
export const asks = (position = 0): AskPart => {
  const request = { callId: `1.1.${position}`, name: "look", arguments: {}, digest: "signed" };
  // Cast: only these members of a request are read.
  return { type: "approval.requested", turn: 1, step: 1, request } as unknown as AskPart;
};
export const ends = (outcome: ToolOutcome, content: string | null, position = 0): AskPart => {
  return { type: "toolResult", ...place(position), outcome, content };
};
export const replays = (number: number): AskPart => ({
  type: "replay.started",
  turn: 1,
  step: number,
  synthesised: false,
});
export const lost: AskPart = { type: "thread.lost", turn: 1 };
// Cast: only its type is read.
export const signal = (type: string): AskPart => ({ type: "signal", signal: { type } }) as AskPart;

/** Writes a chunk in short: its type and the values of its members. */
export const short = ({ type, ...members }: UiMessageChunk): string =>
  [type, ...Object.values(members).map((value) => (typeof value === "string" ? value : JSON.stringify(value)))].join(
    " ",
  );

export const shown = (
  parts: readonly AskPart[],
  { behind = 0, page = [] as readonly string[] } = {},
): readonly string[] => {
  const writer = new MessageWriter(behind, new Set(page));
  return [started, step(1), ...parts].flatMap((part) => writer.take(part).map(short)).slice(1);
};

export const id = "1.1.0";
export const begun = [`start-step`, `tool-input-start ${id} look`];
export const whole = ["start-step", `tool-input-available ${id} look {}`];
export const text = (words: string, number = "1.0"): readonly string[] => [
  `text-start ${number}`,
  `text-delta ${number} ${words}`,
];
