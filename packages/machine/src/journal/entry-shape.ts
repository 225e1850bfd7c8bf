import { type Entry, firstFormat, journalFormat } from "../conversation/protocol/entry.ts";
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

// The schemas of a journal say what is wrong with it, and where. With nearly all entries nothing is, and the shapes by
// which the machine looks at events see that in less than half of the time (`pnpm bench --only opening`), before a schema is
// built. Whatever they doubt is left to the schemas. A property holds that what they read the schemas read alike.

/** The event that a value surely is, as a copy; null where the schemas have to say. */
export const surelyEvent = (value: unknown): Event | null => {
  const copy = plainCopy(value, mostNestedInEvent);
  return isEvent(copy) ? copy : null;
};

/** The entry that a value surely is at a place of a journal, as a copy; null where the schemas have to say. */
export const surelyEntry = (value: unknown, index: number): Entry | null => {
  const copy = plainCopy(value, mostNested);
  // It has the shape of one.
  return isObject(copy) && isMarked(copy["redacted"]) && (index === 0 ? isFirst(copy) : isLater(copy))
    ? (copy as unknown as Entry)
    : null;
};

interface Members {
  readonly [name: string]: unknown;
}

const isFirst = ({ seq, format, event }: Members): boolean =>
  seq === 0 &&
  format === firstFormat &&
  isObject(event) &&
  event["type"] === "thread.started" &&
  problemOfBeginning(event) === null;

const isLater = ({ seq, event, decided, recovered }: Members): boolean =>
  isCount(seq) &&
  seq > 0 &&
  isMarked(recovered) &&
  isEvent(event) &&
  !(event.type === "thread.configured" && (event.format ?? 0) > journalFormat) &&
  (decided === undefined || usual(decided) === null || decidedSchemas().safeParse(decided).success);

const isMarked = (mark: unknown): boolean => mark === undefined || mark === true;

/** What the machine refuses in words of its own, its shapes let pass. */
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

/** An object with no other members. */
const closed = (members: { readonly [name: string]: Shape }): Shape => {
  const shape = object(members);
  return (value) => {
    const problem = shape(value);
    if (problem !== null) return problem;
    // The shape has seen that it is an object.
    for (const name in value as object) if (!Object.hasOwn(members, name)) return wrong(`has a member ${name}`);
    return null;
  };
};

/** What is decided of most events of which anything is; of the rest its schema says. */
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
