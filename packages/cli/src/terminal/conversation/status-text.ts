import type { HostedThread } from "@colloquy/host";
import type { ConversationMachine } from "@colloquy/machine";
import { sizeOfThread } from "@colloquy/machine/inspect";
import { costOf, counted, splitOf, tokensOf } from "../text/figures.ts";
import { named, oneLine, shortened } from "../text/printable.ts";
import { widthOf } from "../text/wrap.ts";
import { type Keymap, keyFor } from "../input/keymap.ts";
import type { BegunAnswer } from "./approval-keys.ts";
import type { Exchange } from "./exchange.ts";

export interface Status {
  /** The thread's figures; the least important is first. */
  readonly figures: readonly string[];
  readonly isLabelled: boolean;
  readonly keymap: Keymap;
  /** The action whose key was pressed once, and must be pressed twice. */
  readonly armed: "quit" | "shell" | "tree" | null;
  readonly begun: BegunAnswer | null;
  readonly edited: number | null;
  /** The running command; empty if there is none. */
  readonly performed: string;
}

export type Ongoing = Pick<Exchange, "isAnswering" | "approval" | "waits" | "queue" | "last">;

/**
 * Returns one line with key hints, or with the thread's figures and the present activity, as far as there is room. It
 * contains no running time.
 */
export const statusText = (status: Status, ongoing: Ongoing, width: number): string => {
  const now = nowIn(status, ongoing);
  const figures = status.armed === null && status.begun === null ? status.figures : [];
  const texts = [
    // The first labelled figures are the least important, so they are left out first.
    ...figures.map((_, index) => [
      ...(status.isLabelled ? figures.slice(index) : figures.slice(0, figures.length - index)),
      ...now,
    ]),
    ...now.map((_, index) => now.slice(0, now.length - index)),
  ].flatMap((parts) => {
    const whole = parts.join(" · ");
    // The figures in brackets are left out before the tokens. Labelled figures before the tokens are left out earlier
    // still.
    const givesWay = !status.isLabelled || split.test(parts[0] ?? "");
    return givesWay ? [whole, whole.replace(split, "")] : [whole];
  });
  return texts.find((text) => widthOf(text) <= width) ?? texts.at(-1) ?? "";
};

/** Matches the input and output tokens: ` (1.0k in / 0.5k out)`. */
const split = / \([^()]* in \/ [^()]* out\)/;

const nowIn = (status: Status, ongoing: Ongoing): readonly string[] => {
  const { keymap } = status;
  if (status.armed === "quit") return hint(keyFor(keymap, "interrupt"), "again quits");
  if (status.armed === "shell") return hint(keyFor(keymap, "send"), "again runs it");
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

/** Returns the hint of a key; empty if no key does it. */
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

/**
 * Returns the figures of a thread for the status line: its id, turns and tokens, the share of the window, and the cost.
 *
 * @param agent If given, each figure has a label: `Agent: WeatherAgent`, `Thread: chat-123`, `Msgs: 6`, `Tokens: 2.4k
 * (…)`.
 */
export const threadStatus = async (
  machine: ConversationMachine,
  thread: HostedThread,
  agent: string | null,
): Promise<readonly string[]> => {
  const size = await thread.look((state) => sizeOfThread(machine, state));
  const names =
    agent === null ? [`thread ${named(thread.id)}`] : [`Agent: ${oneLine(agent)}`, `Thread: ${named(thread.id)}`];
  if (size === null || size.turns === 0) return names;
  const { turns, messages, usage, share } = size;
  const split = splitOf(usage);
  const tokens = `${tokensOf(usage)}${split === "" ? "" : ` (${split})`}`;
  const window = share === null ? "" : `${Math.round(share * 100)} % of the window`;
  const counts =
    agent === null
      ? [counted(turns, "turn"), tokens]
      : [`Msgs: ${messages}`, `Tokens: ${tokens.replace(/ tokens?/, "")}`];
  return [...names, ...counts, window, costOf(usage)].filter((text) => text !== "");
};
