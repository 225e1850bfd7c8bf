import * as Either from "fp-ts/lib/Either.js";
import { type Entry, journalFormat } from "../conversation/protocol/entry.ts";
import { firstEntry, journalled, laterEntry } from "../conversation/protocol/entry-forms.ts";
import type { Event } from "../conversation/protocol/event.ts";
import { eventTypes, isEventType } from "../conversation/protocol/event-forms.ts";
import { mustBe } from "../conversation/protocol/form.ts";
import {
  mostNested,
  mostNestedInEvent,
  NotPlain,
  plainCopy,
  isObject,
  describePath,
  type ValueProblem,
  within,
  wrong,
  preview,
} from "../thread/plain-data.ts";

/** The reason why a value could not be read, and its place. */
export interface DecodeError {
  /** The index of the entry in its journal; null for a single event. */
  readonly index: number | null;
  /** The path of the invalid field, such as `event.reply.content`; empty for the whole value. */
  readonly path: string;
  readonly reason: string;
}

/** Reads an event. Unknown fields survive; an unknown type of event is refused. */
export const decodeEvent = (value: unknown): Either.Either<DecodeError, Event> =>
  decoded(value, mostNestedInEvent, null, problemOfEvent);

/** Reads the entry at an index of a journal. Another format is refused with an error that says so. */
export const decodeEntry = (value: unknown, index: number): Either.Either<DecodeError, Entry> =>
  decoded(value, mostNested, index, index === 0 ? problemOfFirst : problemOfLater);

/** Reads a journal, or says which entry is unreadable, and why. */
export const decodeJournal = (values: readonly unknown[]): Either.Either<DecodeError, readonly Entry[]> => {
  const entries: Entry[] = [];
  for (const [index, value] of values.entries()) {
    const entry = decodeEntry(value, index);
    if (Either.isLeft(entry)) return entry;
    entries.push(entry.right);
  }
  return Either.right(entries);
};

/** Formats a decode error as one sentence. */
export const describeDecodeError = ({ index, path, reason }: DecodeError): string =>
  [index === null ? "the event" : `entry ${index}`, path === "" ? "" : ` at "${path}"`, `: ${reason}`].join("");

const decoded = <Value>(
  value: unknown,
  levels: number,
  index: number | null,
  problemOf: (copy: unknown) => ValueProblem | null,
): Either.Either<DecodeError, Value> => {
  const copy = plainCopy(value, levels);
  if (copy instanceof NotPlain) return Either.left(errorOf(copy.problem, index));
  const problem = problemOf(copy);
  // Its form was checked above.
  if (problem === null) return Either.right(copy as Value);
  const at = valueAt(copy, problem.path);
  // The reason has a simple value itself, and names the kind of any other.
  const shown = typeof at === "object" && at !== null ? `: ${preview(at)}` : "";
  return Either.left(errorOf({ ...problem, reason: problem.reason + shown }, index));
};

const errorOf = ({ path, reason }: ValueProblem, index: number | null): DecodeError => ({
  index,
  path: describePath(path),
  reason,
});

const valueAt = (value: unknown, path: ValueProblem["path"]): unknown =>
  // Its path begins with the innermost name.
  path.reduceRight<unknown>((inner, key) => (isIndexable(inner) ? inner[key] : undefined), value);

const isIndexable = (value: unknown): value is { readonly [key: string | number]: unknown } =>
  typeof value === "object" && value !== null;

const problemOfFirst = (value: unknown): ValueProblem | null => {
  const format = isObject(value) ? value["format"] : undefined;
  const event = isObject(value) ? value["event"] : undefined;
  if (typeof format === "number" && format !== journalFormat) return within("format", otherFormat(format));
  return isObject(event) && event["type"] !== "thread.started"
    ? within("event", within("type", mustBe('"thread.started", which begins a journal', event["type"])))
    : firstEntry.shape(value);
};

const problemOfLater = (value: unknown): ValueProblem | null => {
  const problem = laterEntry.shape(value);
  if (!isObject(value)) return problem;
  const { event } = value;
  const ofEvent = problem === null ? null : problemOfType(event, true);
  return ofEvent === null ? problem : within("event", ofEvent);
};

const problemOfEvent = (value: unknown): ValueProblem | null => problemOfType(value, false) ?? journalled.shape(value);

const problemOfType = (event: unknown, isInJournal: boolean): ValueProblem | null => {
  if (!isObject(event)) return mustBe("an event", event);
  const { type } = event;
  if (isEventType(type)) return null;
  return type === "thread.started" && isInJournal
    ? wrong("a second beginning: a journal has one")
    : within(
        "type",
        wrong(
          `unknown event type ${preview(type)}; a newer version may have written it. Known are: ${eventTypes.join(", ")}`,
        ),
      );
};

const otherFormat = (format: number): ValueProblem =>
  wrong(
    `the journal has format ${format}, and this version reads only format ${journalFormat}: ` +
      `read it with ${format > journalFormat ? "a newer" : "an older"} version`,
  );
