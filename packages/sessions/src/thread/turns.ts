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

/** A recorded call of a program. */
export interface SessionTurn<Inputs extends object = object, Result extends object = object> {
  /** The number of its turn, never used again. */
  readonly number: number;
  readonly inputs: Inputs;
  readonly outputs: Result;
  /** Of its program and all model calls within. */
  readonly usage: Usage;
  /** Scores and notes, oldest first. */
  readonly annotations: readonly Annotation[];
  readonly metadata: JsonObject;
}

/** The completed turns of the path, oldest first, as copies. */
export const sessionTurns = (state: State | null): readonly SessionTurn[] =>
  state === null
    ? []
    : turnsOf(state)
        .filter(({ number, outcome }) => number > 0 && outcome.status === "completed")
        .map(sessionTurn);

/** A turn as a recorded call. */
export const sessionTurn = ({ number, messages, usage, annotations = [], metadata = {} }: Turn): SessionTurn => {
  const said = toArray(messages);
  const inputs = fieldsOf(said.find(({ role }) => role === "user"));
  const outputs = fieldsOf(said.findLast(({ role }) => role === "assistant"));
  return frozenCopy({ number, inputs, outputs, usage, annotations, metadata });
};
