import type { Event, Refusal, ThreadStarted } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";
import {
  decodeEntry,
  type DecodeError,
  decodeEvent,
  describeDecodeError,
  journalFormat,
} from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { EventRefusedError } from "./errors.ts";
import { messageOf } from "./thrown.ts";

/** The input for a value: a member that is undefined counts as left out. */
export type Given<Whole> = { readonly [Name in keyof Whole]: Whole[Name] | undefined };

/** Returns an event from outside as plain data that the caller can no longer change, or why it is invalid. */
export const givenEvent = <Each extends Event>(event: Given<Each>): Either.Either<Refusal, Each> => {
  const copy = givenCopy(event);
  if (Either.isLeft(copy)) return copy;
  const decoded = decodeEvent(copy.right);
  // The copy has the type that the event had.
  return Either.isLeft(decoded) ? Either.left(invalid(decoded.left)) : Either.right(decoded.right as Each);
};

/** Returns the event that starts a thread, likewise. @throws EventRefusedError */
export const givenStart = (event: Given<ThreadStarted> & Pick<ThreadStarted, "threadId">): ThreadStarted => {
  const copy = givenCopy(event);
  if (Either.isLeft(copy)) throw new EventRefusedError(event.threadId, copy.left);
  const decoded = decodeEntry({ seq: 0, format: journalFormat, event: copy.right }, 0);
  if (Either.isLeft(decoded)) throw new EventRefusedError(event.threadId, invalid(decoded.left));
  // Entry 0 decodes with no other event.
  return decoded.right.event as ThreadStarted;
};

/** Returns a plain copy of a value, or why it would not be the same in a journal, with the place. */
export const plainCopyOf = (value: unknown, whole: string): Either.Either<string, unknown> => {
  try {
    const copy = plainCopy(value);
    return copy instanceof NotPlain
      ? Either.left(`it can't be journalled: ${describeValueProblem(copy.problem, whole)}`)
      : Either.right(copy);
  } catch (thrown) {
    // Reading the value may run code.
    return Either.left(`it can't be written as JSON: ${messageOf(thrown)}`);
  }
};

const givenCopy = (event: unknown): Either.Either<Refusal, unknown> =>
  Either.mapLeft((reason: string): Refusal => ({ kind: "invalid", reason }))(plainCopyOf(event, "the event"));

const invalid = (error: DecodeError): Refusal => ({ kind: "invalid", reason: describeDecodeError(error) });
