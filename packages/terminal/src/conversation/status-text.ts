import { shortened } from "../text/printable.ts";
import { widthOf } from "../text/width.ts";
import type { BegunAnswer } from "./approval-keys.ts";
import type { Exchange } from "./exchange.ts";

/** What the status line is about. */
export interface Status {
  /** Of the thread: the least is first. */
  readonly figures: readonly string[];
  /** Pressed once, of what counts when it is pressed twice. */
  readonly armed: "quit" | "tree" | null;
  /** Of an approval. */
  readonly begun: BegunAnswer | null;
  /** The turn whose question is being changed. */
  readonly edited: number | null;
  /** The command that is under way; empty where none is. */
  readonly performed: string;
}

/** What goes on in it. */
export type Ongoing = Pick<Exchange, "isAnswering" | "approval" | "waits" | "queue" | "last">;

/** One line: what a key would do, or how the thread stands and what goes on in it, as far as there is room. Nothing in it ticks. */
export const statusText = (status: Status, ongoing: Ongoing, width: number): string => {
  const now = nowIn(status, ongoing);
  const figures = status.armed === null && status.begun === null ? status.figures : [];
  const texts = [
    ...figures.map((_, index) => [...figures.slice(0, figures.length - index), ...now]),
    ...now.map((_, index) => now.slice(0, now.length - index)),
  ].map((parts) => parts.join(" · "));
  return texts.find((text) => widthOf(text) <= width) ?? texts.at(-1) ?? "";
};

const nowIn = (status: Status, ongoing: Ongoing): readonly string[] => {
  if (status.armed !== null) return [armedWords[status.armed]];
  if (status.begun !== null) return [begunWords[status.begun], "Esc goes back"];
  return [
    ...(status.edited === null ? [] : [`editing turn ${status.edited}, Esc leaves it`]),
    ...doing(ongoing),
    ...(status.performed === "" ? [] : [`${shortened(status.performed)} …`]),
    ...(ongoing.queue.length === 0 ? [] : [`${ongoing.queue.length} queued`]),
    ...(ongoing.last.length === 0 && !ongoing.isAnswering ? ["/help lists the commands"] : []),
  ];
};

const begunWords = { reason: "Enter denies it", always: "Enter runs this tool from here on" } as const;
const armedWords = { quit: "Ctrl+C again quits", tree: "Esc again: the tree" } as const;

const doing = ({ isAnswering, approval, waits }: Ongoing): readonly string[] => {
  if (!isAnswering) return [];
  if (approval !== null) return ["waits for y or n"];
  return waits === null ? ["answers, Esc stops"] : ["waits, Esc stops", waitWords[waits]];
};

const waitWords = {
  lease: "another process has the thread, or had it a moment ago",
  model: "it is not the model's turn yet",
} as const;
