import * as Either from "fp-ts/lib/Either.js";
import * as zod from "zod/mini";
import { type Entry, journalFormat } from "../conversation/protocol/entry.ts";
import type { Event } from "../conversation/protocol/event.ts";
import { isObject } from "../thread/json.ts";
import { mostNested, mostNestedInEvent } from "../thread/plain-copy.ts";
import { preview } from "../thread/preview.ts";
import { surelyEntry, surelyEvent } from "./entry-shape.ts";
import { journalSchemas } from "./schema.ts";

/** The reason why a value could not be read, and its place. */
export interface DecodeError {
  /** The index of the entry in its journal; null for a single event. */
  readonly index: number | null;
  /** The path of the invalid field, such as `event.reply.content`; empty for the whole value. */
  readonly path: string;
  readonly reason: string;
}

/** Reads an event. Unknown fields survive; an unknown type of event is refused. */
export const decodeEvent = (value: unknown): Either.Either<DecodeError, Event> => {
  const event = surelyEvent(value);
  return event === null ? eventBySchema(value) : Either.right(event);
};

/** Reads the entry at an index of a journal. Another format is refused with an error that says so. */
export const decodeEntry = (value: unknown, index: number): Either.Either<DecodeError, Entry> => {
  const entry = surelyEntry(value, index);
  return entry === null ? entryBySchema(value, index) : Either.right(entry);
};

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

/** Reads an event as `decodeEvent` does, by the schema alone. */
export const eventBySchema = (value: unknown): Either.Either<DecodeError, Event> => {
  const unknownType = problemOfType(value, null, "");
  return unknownType === null ? parsed<Event>(journalSchemas().event, value, null) : Either.left(unknownType);
};

/** Reads an entry as `decodeEntry` does, by the schema alone. */
export const entryBySchema = (value: unknown, index: number): Either.Either<DecodeError, Entry> => {
  if (index === 0) {
    const format = isObject(value) ? value["format"] : undefined;
    if (typeof format === "number" && format !== journalFormat) return Either.left(otherFormat(format));
    return parsed<Entry>(journalSchemas().first, value, 0);
  }
  const event = isObject(value) ? value["event"] : undefined;
  const unknownType = problemOfType(event, index, "event");
  return unknownType === null ? parsed<Entry>(journalSchemas().later, value, index) : Either.left(unknownType);
};

const problemOfType = (event: unknown, index: number | null, path: string): DecodeError | null => {
  if (!isObject(event)) return { index, path, reason: `expected an event, got ${preview(event)}` };
  const { type } = event;
  if (type === "thread.started" && index !== null)
    return { index, path, reason: "a second beginning: a journal has one" };
  const known: readonly string[] = journalSchemas().eventTypes;
  if (typeof type === "string" && known.includes(type)) return null;
  const reason = `unknown event type ${preview(type)}; a newer version may have written it. Known are: ${known.join(", ")}`;
  return { index, path: path === "" ? "type" : `${path}.type`, reason };
};

const otherFormat = (format: number): DecodeError => ({
  index: 0,
  path: "format",
  reason:
    `the journal has format ${format}, and this version reads only format ${journalFormat}: ` +
    `read it with ${format > journalFormat ? "a newer" : "an older"} version`,
});

const parsed = <Value>(
  schema: zod.ZodMiniType,
  value: unknown,
  index: number | null,
): Either.Either<DecodeError, Value> => {
  const unfit = problemOfNesting(value, index === null ? mostNestedInEvent : mostNested);
  if (unfit !== null) return Either.left({ index, path: "", reason: unfit });
  const result = schema.safeParse(value, { error: english.localeError });
  // The schemas' declarations are checked against the types. Zod's own type writes optional fields differently.
  if (result.success) return Either.right(result.data as Value);
  const { path, message } = deepest(result.error.issues);
  return Either.left({ index, path: path.join("."), reason: `${message}, got ${preview(valueAt(value, path))}` });
};

/** Errors are in English, whichever language zod is set to elsewhere. */
const english = zod.locales.en();

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (isIndexable(inner) ? inner[key] : undefined), value);

const isIndexable = (value: unknown): value is { readonly [key: PropertyKey]: unknown } =>
  typeof value === "object" && value !== null;

/**
 * Returns the deepest issue. A union reports why each member does not fit; the one that fitted furthest is the
 * intended one.
 */
const deepest = (
  issues: readonly zod.core.$ZodIssue[],
): { readonly path: readonly PropertyKey[]; readonly message: string } => {
  const reasons = issues.flatMap((issue) =>
    issue.code === "invalid_union" && issue.errors.length > 0
      ? issue.errors
          .map((inner) => deepest(inner))
          .map(({ path, message }) => ({ path: [...issue.path, ...path], message }))
      : [{ path: issue.path, message: issue.message }],
  );
  return reasons.reduce((furthest, reason) => (reason.path.length > furthest.path.length ? reason : furthest), {
    path: [],
    message: reasons[0]?.message ?? "it can't be read",
  });
};

const problemOfNesting = (value: unknown, most: number, levels: number = most): string | null => {
  if (typeof value !== "object" || value === null) return null;
  if (levels === 0) return `it is nested more than ${most} levels deep`;
  if (Object.hasOwn(value, "__proto__")) return 'a member is called "__proto__", which JavaScript objects do not keep';
  for (const member of Object.values(value)) {
    const problem = problemOfNesting(member, most, levels - 1);
    if (problem !== null) return problem;
  }
  return null;
};
