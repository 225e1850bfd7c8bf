import {
  contentText,
  type Message,
  messagesOf,
  partText,
  type State,
  toArray,
  type Turn,
  turnsOf,
} from "@colloquy/machine";
import { blockLines } from "../blocks/block-lines.ts";
import { endBlocks, messageBlocks } from "../blocks/block.ts";
import type { Line, Size } from "../text/line.ts";
import { atEnd, type Items } from "./items.ts";
import { type Position, type Scrolling, scrollingView, seen, start } from "./scrolling-view.ts";
import type { View, ViewStep } from "./view.ts";

/**
 * Returns a view of the whole path, unfolded: thinking, tool calls, results, figures. Begins at its end, or at a turn.
 */
export const transcriptView = (state: State, turn?: number): View => {
  const said = saidIn(state);
  const first = said.findIndex((each) => each.turn === turn);
  const content: Scrolling = {
    title: `Transcript of ${state.context.threadId}`,
    items: laidOut(said),
    empty: "nothing was said yet",
    selects: false,
    hints: ["c copy answer"],
    press: (name, position, size) => (name === "c" ? copied(content, said, position, size) : null),
  };
  return scrollingView(content, { ...start, top: first < 0 ? atEnd : { item: first, line: 0 } });
};

/** A message with the results of its calls, and its turn; 0 for messages before the first turn. */
interface Said {
  readonly messages: readonly Message[];
  readonly turn: number;
  /** The turn that ends with it. */
  readonly ends: Turn | null;
}

export const saidIn = (state: State): readonly Said[] => {
  const { conversation, open } = state.context;
  const { system, seed } = conversation;
  const closed = turnsOf(state).flatMap((turn) => saidAt(turn.number, toArray(turn.messages), turn));
  const waiting = messagesOf(state).slice(seed.length + closed.flatMap(({ messages }) => messages).length);
  return [
    ...saidAt(0, system === null ? seed : [system, ...seed]),
    ...closed,
    ...saidAt(open?.number ?? conversation.turns.length + 1, waiting),
  ];
};

const saidAt = (turn: number, messages: readonly Message[], closed: Turn | null = null): readonly Said[] => {
  const begins = messages.flatMap(({ role }, index) => (role === "tool" && index > 0 ? [] : [index]));
  return begins.map((from, index) => {
    const to = begins[index + 1];
    return { messages: messages.slice(from, to), turn, ends: to === undefined ? closed : null };
  });
};

/** Returns the whole text of messages, for a search. */
export const textOfMessages = (messages: readonly Message[]): string =>
  messages.flatMap(({ parts }) => parts.map(partText)).join("\n");

/** Lays out messages unfolded, as the conversation shows them, below the number of their turn. */
export const saidLines = (
  { messages, turn, ends }: Omit<Said, "turn"> & { readonly turn: number | string },
  columns: number,
): readonly Line[] => {
  const [{ role, name = "you" } = { role: "tool" as const }] = messages;
  const title = [turn || [], role === "user" ? name : role].flat().join(" ");
  const blocks = messageBlocks(messages).map((block) => (block.type === "question" ? { ...block, title } : block));
  const lines = [...blocks, ...(ends === null ? [] : endBlocks(ends))].flatMap((block) =>
    blockLines(block, { columns: columns + 1, unfolded: true, finished: false }),
  );
  return role === "assistant" ? [[], ...lines] : lines;
};

/** Makes items of messages. The last layouts are cached, because a long answer is scrolled line by line. */
export const laidOut = (said: readonly Said[]): Items => {
  const kept = new Map<string, readonly Line[]>();
  return {
    count: said.length,
    text: (index) => {
      const text = textOfMessages(said[index]?.messages ?? []);
      // Both the source and the displayed text.
      return `${text}\n${text.replaceAll(/[*_~`]/g, "")}`;
    },
    lines: (index, columns) => {
      const key = `${index} ${columns}`;
      const lines = kept.get(key) ?? said.slice(index, index + 1).flatMap((each) => saidLines(each, columns));
      if (kept.size >= keptItems) kept.clear();
      kept.set(key, lines);
      return lines;
    },
  };
};

const keptItems = 256;

/** Copies the newest answer in sight, or the one before. */
const copied = (content: Scrolling, said: readonly Said[], position: Position, size: Size): ViewStep => {
  const last = seen(content, position, size).at(-1)?.place.item ?? 0;
  const answers = said.slice(0, last + 1).map(({ messages: [message], turn }) => ({ message, turn }));
  const answer = answers.findLast(({ message }) => message?.role === "assistant" && contentText(message.parts) !== "");
  const noted = (note: string): View => scrollingView(content, { ...position, note });
  if (answer?.message === undefined) return { view: noted("there is no answer to copy") };
  return {
    view: noted(`copied the answer of turn ${answer.turn}`),
    action: { type: "copy", text: contentText(answer.message.parts) },
  };
};
