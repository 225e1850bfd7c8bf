import { type Event, messagesOf, type State, turnNumbered } from "@colloquy/machine";
import { entriesOfSteps } from "./trace.ts";
import { type MoveNamed, pickFrom, type Situation } from "./situation.ts";

export type EditName =
  | "append"
  | "appendRound"
  | "changeSystem"
  | "resetSystem"
  | "setMetadata"
  | "addTurn"
  | "annotate"
  | "truncate"
  | "checkpoint"
  | "moveHead"
  | "pin"
  | "fork"
  | "redact";

/** Returns the event of a move that edits the thread. */
export const editOf = (move: MoveNamed<EditName>, situation: Situation): Event => {
  const { now: at, state } = situation;
  const turn = (pick: number): number => turnPicked(state, pick);
  switch (move.move) {
    case "append":
      return { type: "message.appended", at, message: move.message };
    case "appendRound":
      return { type: "round.appended", at, reply: move.reply, results: move.results };
    case "changeSystem":
      return { type: "system.changed", at, system: move.system };
    case "resetSystem":
      return { type: "system.reset", at };
    case "setMetadata":
      return { type: "metadata.changed", at, metadata: move.metadata };
    case "addTurn":
      return { type: "turn.added", at, messages: move.messages };
    case "annotate":
      return { type: "turn.annotated", at, turn: turn(move.pick), name: move.name, value: move.value };
    case "truncate":
      return { type: "answer.truncated", at, turn: turn(move.pick), characters: move.characters };
    case "checkpoint":
      return { type: "checkpoint.named", at, name: move.name };
    case "moveHead":
      return { type: "head.moved", at, to: typeof move.to === "number" ? turn(move.to) - 1 : move.to };
    case "pin":
      return { type: "message.pinned", at, message: pinOf(move, state), pinned: move.pinned };
    case "fork":
      return { type: "thread.forked", at, from: { threadId: "elsewhere", turn: Math.max(0, turn(move.pick) - 1) } };
    case "redact":
      return {
        type: "thread.redacted",
        at,
        seqs: seqsOfTurn(turn(move.pick), situation),
        ...(move.reason === undefined ? {} : { reason: move.reason }),
      };
  }
};

/** Returns the number of a turn, or sometimes the number after the last turn. */
export const turnPicked = ({ context }: State, pick: number): number => {
  const turns = context.conversation.turns.length;
  return turns === 0 ? pick : 1 + (pick % (turns + 1));
};

const pinOf = ({ pick, pinned }: MoveNamed<"pin">, state: State): string => {
  const pins = state.context.conversation.pins.map(({ message }) => message);
  return pickFrom(pinned ? messagesOf(state).map(({ id }) => id) : pins, pick) ?? "0.99";
};

/** Returns the seqs of a turn's asks, and of the answers of models and tools in that turn. */
const seqsOfTurn = (turn: number, { state, steps }: Situation): readonly number[] => {
  const asks = turnNumbered(state, turn)?.asks.map(({ askId }) => askId) ?? [];
  const prefix = `${state.context.threadId}/${turn}.`;
  return entriesOfSteps(steps).flatMap(({ seq, event }) => {
    const isAsk = event.type === "ask.received" && asks.includes(event.askId);
    return isAsk || ("effectId" in event && event.effectId.startsWith(prefix)) ? [seq] : [];
  });
};
