import {
  type Annotation,
  type JsonObject,
  type State,
  toArray,
  type Turn,
  turnsOf,
  type Usage,
} from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { fieldsOf } from "../program/fields.ts";
import { askOf, withoutMarks } from "../program/marks.ts";

/** A recorded call of a program: frozen, and never changed afterwards. */
export interface SessionTurn<Inputs extends object = object, Result extends object = object> {
  /** The number of its turn; numbers are never reused. */
  readonly number: number;
  readonly inputs: Inputs;
  readonly outputs: Result;
  /** The usage of all nested model calls, including those of nested programs. */
  readonly usage: Usage;
  /** Scores and notes, oldest first. */
  readonly annotations: readonly Annotation[];
  /** The caller's metadata of the call. */
  readonly metadata: JsonObject;
}

/**
 * Returns the recorded calls on the path, oldest first: the completed turns, including those added by hand.
 *
 * @param most the largest number of calls; the newest are returned.
 */
export const sessionTurns = (state: State | null, most?: number): readonly SessionTurn[] =>
  state === null ? [] : turnsInView(state, most).filter(isRecorded).map(sessionTurn);

/** Returns the newest recorded calls on the path, oldest first, with the failed turns between and after them. */
export const turnsInView = (state: State, most: number = Number.POSITIVE_INFINITY): readonly Turn[] => {
  const path = turnsOf(state);
  const calls = path.filter(isRecorded);
  if (most >= calls.length) return path;
  const [first] = most === 0 ? [] : calls.slice(-most);
  return first === undefined ? [] : path.slice(path.indexOf(first));
};

/** Returns whether a turn is a recorded call; one that failed or was cancelled is not. */
export const isRecorded = ({ outcome }: Turn): boolean => outcome.status === "completed";

/** Converts a turn to a recorded call. */
export const sessionTurn = (turn: Turn): SessionTurn => {
  const { number, messages, usage, annotations = [] } = turn;
  const ask = askOf(turn);
  const inputs = fieldsOf(ask);
  const outputs = fieldsOf(toArray(messages).findLast(({ role }) => role === "assistant"));
  const metadata = withoutMarks(ask?.metadata ?? {});
  return frozenCopy({ number, inputs, outputs, usage, annotations, metadata });
};
