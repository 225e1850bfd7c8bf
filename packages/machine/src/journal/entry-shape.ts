import { type Entry, journalFormat } from "../conversation/protocol/entry.ts";
import type { Event } from "../conversation/protocol/event.ts";
import { problemOfBeginning, problemOfEvent } from "../conversation/protocol/event-shape.ts";
import { isCount, isObject } from "../thread/json.ts";
import { mostNested, mostNestedInEvent, plainCopy } from "../thread/plain-copy.ts";
import {
  count,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Shape,
  text,
} from "../conversation/protocol/shape.ts";
import { wrong } from "../thread/value-problem.ts";
import { decidedSchemas } from "./schema.ts";

// The schemas of a journal say what is wrong with an entry, and in which place. Nearly all entries are valid. The
// machine's event shapes recognise those in less than half of the time (`pnpm bench --only opening`), without building
// a schema. Doubtful entries are left to the schemas. A property test checks that both read the same.

/** Returns a copy of a value that is certainly an event, or null if the schemas must decide. */
export const surelyEvent = (value: unknown): Event | null => {
  const copy = plainCopy(value, mostNestedInEvent);
  return isEvent(copy) ? copy : null;
};

/** Returns a copy of a value that is certainly the entry at an index, or null if the schemas must decide. */
export const surelyEntry = (value: unknown, index: number): Entry | null => {
  const copy = plainCopy(value, mostNested);
  // Its shape was checked above.
  return isObject(copy) && isMarked(copy["redacted"]) && (index === 0 ? isFirst(copy) : isLater(copy))
    ? (copy as unknown as Entry)
    : null;
};

interface Members {
  readonly [name: string]: unknown;
}

const isFirst = ({ seq, format, event }: Members): boolean =>
  seq === 0 &&
  format === journalFormat &&
  isObject(event) &&
  event["type"] === "thread.started" &&
  problemOfBeginning(event) === null;

const isLater = ({ seq, event, decided, recovered }: Members): boolean =>
  isCount(seq) &&
  seq > 0 &&
  isMarked(recovered) &&
  isEvent(event) &&
  (decided === undefined || usual(decided) === null || decidedSchemas().safeParse(decided).success);

const isMarked = (mark: unknown): boolean => mark === undefined || mark === true;

/** Checks an event, including rules that the shapes leave to the machine. */
const isEvent = (value: unknown): value is Event => {
  if (!isObject(value) || problemOfEvent(value) !== null) return false;
  const { type, askId, limits, reply } = value;
  switch (type) {
    case "ask.received":
      return askId !== "" && (!isObject(limits) || Object.values(limits).every(isCount));
    case "round.appended":
      return isObject(reply) && Array.isArray(reply["toolCalls"]) && reply["toolCalls"].length > 0;
    default:
      return true;
  }
};

/** Checks an object without other members. */
const closed = (members: { readonly [name: string]: Shape }): Shape => {
  const shape = object(members);
  return (value) => {
    const problem = shape(value);
    if (problem !== null) return problem;
    // The shape has checked that it is an object.
    for (const name in value as object) if (!Object.hasOwn(members, name)) return wrong(`has a member ${name}`);
    return null;
  };
};

/** The shape of the most common decisions. Others are left to the schema. */
const usual = closed({
  queued: optional(count),
  approvals: optional(list(count)),
  deadlineAt: optional(number),
  cut: optional(
    closed({
      policy: text,
      from: nullable(closed({ turn: count, unit: count })),
      dropped: optional(list(text)),
      interrupted: oneOf("keep", "omit"),
    }),
  ),
  fullness: optional(
    closed({ is: oneOf("within", "approaching_limit", "at_limit"), tokens: number, available: number }),
  ),
});
