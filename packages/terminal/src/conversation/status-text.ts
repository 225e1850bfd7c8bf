import { shortened } from "../text/printable.ts";
import { widthOf } from "../text/width.ts";
import { type Keymap, keyFor } from "../input/keymap.ts";
import type { BegunAnswer } from "./approval-keys.ts";
import type { Exchange } from "./exchange.ts";

/** What the status line is about. */
export interface Status {
  /** Of the thread: the least is first. */
  readonly figures: readonly string[];
  /** Whether the current activity has a label. */
  readonly isLabelled: boolean;
  /** The keys that its hints name. */
  readonly keymap: Keymap;
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
    // Of the labelled ones, the first say what a person knows already.
    ...figures.map((_, index) => [
      ...(status.isLabelled ? figures.slice(index) : figures.slice(0, figures.length - index)),
      ...now,
    ]),
    ...now.map((_, index) => now.slice(0, now.length - index)),
  ].flatMap((parts) => {
    const whole = parts.join(" · ");
    // What is in brackets gives way before the tokens do. Of labelled figures, those before them go first.
    const givesWay = !status.isLabelled || split.test(parts[0] ?? "");
    return givesWay ? [whole, whole.replace(split, "")] : [whole];
  });
  return texts.find((text) => widthOf(text) <= width) ?? texts.at(-1) ?? "";
};

/** The input and the output of the tokens: ` (1.0k in / 0.5k out)`. */
const split = / \([^()]* in \/ [^()]* out\)/;

const nowIn = (status: Status, ongoing: Ongoing): readonly string[] => {
  const { keymap } = status;
  if (status.armed === "quit") return hint(keyFor(keymap, "interrupt"), "again quits");
  if (status.armed === "tree") return hint(keyFor(keymap, "closeOrStop"), "again shows the tree");
  const close = keyFor(keymap, "closeOrStop", "closeOrStopOrQuit");
  if (status.begun !== null)
    return [...hint(keyFor(keymap, "send"), begunWords[status.begun]), ...hint(close, "goes back")];
  return [
    ...(status.edited === null ? [] : [[`editing turn ${status.edited}`, ...hint(close, "leaves it")].join(", ")]),
    ...labelled(
      status.isLabelled,
      doing(ongoing, status.edited === null ? hint(keyFor(keymap, ...stopping), "stops") : []),
    ),
    ...(status.performed === "" ? [] : [`${shortened(status.performed)} …`]),
    ...(ongoing.queue.length === 0 ? [] : [`${ongoing.queue.length} queued`]),
    ...(ongoing.last.length === 0 && !ongoing.isAnswering ? ["/help lists the commands"] : []),
  ];
};

const begunWords = { reason: "denies it", always: "runs this tool from here on" } as const;
const stopping = ["closeOrStop", "closeOrStopOrQuit", "interrupt"] as const;

const labelled = (isLabelled: boolean, [first = "Ready", ...others]: readonly string[]): readonly string[] =>
  isLabelled ? [`Status: ${first}`, ...others] : first === "Ready" ? others : [first, ...others];

/** The hint of a key; empty if no key does it. */
const hint = (key: string | null, does: string): readonly string[] => (key === null ? [] : [`${key} ${does}`]);

const doing = ({ isAnswering, approval, waits }: Ongoing, stops: readonly string[]): readonly string[] => {
  if (!isAnswering) return [];
  if (approval !== null) return ["waits for y or n"];
  const does = (what: string): string => [what, ...stops].join(", ");
  return waits === null ? [does("answers")] : [does("waits"), waitWords[waits]];
};

const waitWords = {
  lease: "another process has the thread, or had it a moment ago",
  model: "it is not the model's turn yet",
} as const;
