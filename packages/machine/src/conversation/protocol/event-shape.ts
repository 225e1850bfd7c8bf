import * as Either from "fp-ts/lib/Either.js";
import {
  mostNestedInEvent,
  NotPlain,
  plainCopy,
  isObject,
  describeValueProblem,
  type ValueProblem,
} from "../../thread/plain-data.ts";
import type { ThreadInput, Event } from "./event.ts";
import { beginning, event, eventTypes, isEventType } from "./event-forms.ts";
import { object } from "./form.ts";
import { glimpse } from "./shape.ts";

/**
 * Reads a value as an event. Returns a copy as plain data, or an error that names the invalid field. It checks each
 * field of the event's type. It does not check what the values mean, such as whether an id is known. Never throws.
 */
export const readEvent = (given: unknown): Either.Either<string, Event> => {
  const copy = copyOf(given, "the event");
  if (Either.isLeft(copy)) return copy;
  const problem = problemOfEvent(copy.right);
  // Its shape was checked above.
  return problem === null ? Either.right(copy.right as Event) : Either.left(problem);
};

/** Reads the input of a new thread in the same way. */
export const readThreadInput = (given: unknown): Either.Either<string, ThreadInput> => {
  const copy = copyOf(given, "what a thread begins with");
  if (Either.isLeft(copy)) return copy;
  const problem = problemOfBeginning(copy.right);
  return problem === null
    ? Either.right(copy.right as ThreadInput) // Its shape was checked above.
    : Either.left(describeValueProblem(problem, "what a thread begins with"));
};

const copyOf = (given: unknown, whole: string): Either.Either<string, unknown> => {
  try {
    const copy = plainCopy(given, mostNestedInEvent);
    return copy instanceof NotPlain ? Either.left(describeProblemIn(given, copy.problem, whole)) : Either.right(copy);
  } catch (thrown) {
    // Reading a value may run foreign code, such as a getter.
    return Either.left(`${whole} can't be read: ${thrown instanceof Error ? thrown.message : glimpse(thrown)}`);
  }
};

/** Describes the problem, with the event's type if it has one. */
const describeProblemIn = (given: unknown, problem: ValueProblem, whole: string): string => {
  const type = isObject(given) ? given["type"] : undefined;
  const where = describeValueProblem(problem, problem.path.length === 0 ? whole : "it");
  return typeof type === "string" && problem.path.length > 0 ? `${glimpse(type)}: ${where}` : where;
};

/** Returns why a plain value does not have the shape of an event for a running thread, or null if it does. */
export const problemOfEvent = (value: unknown): string | null => {
  if (!isObject(value)) return `an event is an object with a type; this is ${glimpse(value)}`;
  const { type } = value;
  const problem = event.shape(value);
  if (problem === null) return null;
  if (type === "thread.started") return '"thread.started" begins a thread, once: `start` does that';
  return isEventType(type)
    ? `"${type}": ${describeValueProblem(problem, "it")}`
    : `${glimpse(type)} is no type of event; there are: ${eventTypes.join(", ")}`;
};

/** Returns what is wrong with the plain data that begins a thread, or null if nothing is. */
const problemOfBeginning = object<ThreadInput>(beginning).shape;
