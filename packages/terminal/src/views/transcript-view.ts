import { contentText, type Message, messagesOf, type State, toArray, type Turn, turnsOf } from "@colloquy/machine";
import type { Size } from "../text/line.ts";
import { atEnd, type Items } from "./items.ts";
import { messageLines, messageText } from "./message-lines.ts";
import { type Position, type Scrolling, scrollingView, seen, start } from "./scrolling-view.ts";
import type { View, ViewStep } from "./view.ts";

/** All that was said on the path, unfolded: thinking, tool calls, results, figures. Begins at its end, or at a turn. */
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

/** A message and its turn: 0 for what stands before the first one. */
export interface Said {
  readonly message: Message;
  readonly turn: number;
  /** The turn that ends with it. */
  readonly ends: Turn | null;
}

/** What was said on the path, the system message first. */
export const saidIn = (state: State): readonly Said[] => {
  const { conversation, open } = state.context;
  const { system, seed } = conversation;
  const before = [...(system === null ? [] : [system]), ...seed].map((message) => ({ message, turn: 0, ends: null }));
  const closed = turnsOf(state).flatMap((turn) =>
    toArray(turn.messages).map((message, index) => ({
      message,
      turn: turn.number,
      ends: index === turn.messages.length - 1 ? turn : null,
    })),
  );
  const turn = open?.number ?? conversation.turns.length + 1;
  const waiting = messagesOf(state).slice(seed.length + closed.length);
  return [...before, ...closed, ...waiting.map((message) => ({ message, turn, ends: null }))];
};

/** Messages as items. What was laid out last is kept: one moves through a long answer line by line. */
export const laidOut = (said: readonly Said[]): Items => {
  const kept = new Map<string, ReturnType<Items["lines"]>>();
  return {
    count: said.length,
    text: (index) =>
      said
        .slice(index, index + 1)
        .map(messageText)
        .join(""),
    lines: (index, columns) => {
      const key = `${index} ${columns}`;
      const lines = kept.get(key) ?? said.slice(index, index + 1).flatMap((each) => messageLines(each, columns));
      if (kept.size >= keptItems) kept.clear();
      kept.set(key, lines);
      return lines;
    },
  };
};

const keptItems = 256;

/** The newest answer that is in sight, or the one before. */
const copied = (content: Scrolling, said: readonly Said[], position: Position, size: Size): ViewStep => {
  const last = seen(content, position, size).lines.at(-1)?.place.item ?? 0;
  const answer = said
    .slice(0, last + 1)
    .findLast(({ message }) => message.role === "assistant" && contentText(message.parts) !== "");
  if (answer === undefined)
    return { view: scrollingView(content, { ...position, note: "there is no answer to copy" }) };
  return {
    view: scrollingView(content, { ...position, note: `copied the answer of turn ${answer.turn}` }),
    action: { type: "copy", text: contentText(answer.message.parts) },
  };
};
