import type { InterruptedTurns, UnitPosition } from "./unit.ts";
import type { Shrink } from "./shrink.ts";
import type { Message } from "../thread/message.ts";
import { withParts } from "../thread/make-message.ts";

/**
 * A policy's decision about a prompt: what it leaves out, and how it shows the rest. It is small, plain JSON, and
 * journalled when it changes. Its size does not grow with the thread, except for `dropped`, which lists each dropped
 * unit. Rendering needs only the cut and the thread, not the configuration.
 */
export interface Cut {
  /** The deciding policy: `name@version`. */
  readonly policy: string;
  /** The first shown unit; older units are left out unless pinned. Null: nothing is left out. */
  readonly from: UnitPosition | null;
  /** Units after `from` that are left out, by the id of their first message. */
  readonly dropped?: readonly string[];
  /** Turns before `from` that are shown as summaries. */
  readonly summarised?: SummarisedTurns;
  /** The rules that shorten shown messages, applied in order. */
  readonly shrink?: readonly Shrink[];
  /** The data fields of closed turns that are shown. */
  readonly fields?: Fields;
  /** The system message is left out. */
  readonly system?: "omit";
  /** The handling of turns that were cancelled or failed. */
  readonly interrupted: InterruptedTurns;
  /** The number of tokens that a model reported for each counted one, at the time of the decision; 1 if absent. */
  readonly calibration?: number;
}

/** Turns of the path from one number to another, inclusive; 0 is the seed. */
export interface TurnRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Turns shown as summaries with numbers up to `upTo`. The bound keeps outstanding prompts unchanged when a later
 * summary arrives.
 */
export interface SummarisedTurns extends TurnRange {
  readonly upTo: number;
}

/** Selects the data parts of closed turns that are shown, by their fields. */
export interface Fields {
  /** Left out of every message; takes precedence over `inputs`. */
  readonly omit?: readonly string[];
  /** The only fields that user messages show. */
  readonly inputs?: readonly string[];
}

/** Returns the message with its shown fields only: the same object if all are shown, null if nothing is left. */
export const withFields = (message: Message, fields: Fields): Message | null => {
  if (!message.parts.some((part) => part.type === "data" && !isShown(message, part.field, fields))) return message;
  const parts = message.parts.filter((part) => part.type !== "data" || isShown(message, part.field, fields));
  return parts.length === 0 ? null : withParts(message, parts);
};

const isShown = (message: Message, field: string, { omit, inputs }: Fields): boolean =>
  omit?.includes(field) !== true && (inputs === undefined || message.role !== "user" || inputs.includes(field));
