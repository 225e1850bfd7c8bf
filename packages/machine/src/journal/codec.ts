import * as Either from "fp-ts/lib/Either.js";
import type { ZodType } from "zod";
import type { Entry } from "../conversation/entry.ts";
import { journalFormat } from "../conversation/entry.ts";
import type { Event } from "../conversation/event.ts";
import { eventSchema, firstEntrySchema, laterEntrySchema } from "./schema.ts";

/** Why something could not be read, and where. */
export interface DecodeError {
  /** The place of the entry in its journal; null for an event on its own. */
  readonly index: number | null;
  /** The path of the offending field, such as `event.reply.content`; empty for the whole. */
  readonly path: string;
  readonly reason: string;
}

/** Reads an event. What is not known of it survives; an unknown type of event is refused. */
export const decodeEvent = (value: unknown): Either.Either<DecodeError, Event> => {
  const unknownType = problemOfType(value, null, "");
  return unknownType === null ? parsed<Event>(eventSchema, value, null) : Either.left(unknownType);
};

/** Reads the entry at a place in a journal. A newer format is refused in words. */
export const decodeEntry = (value: unknown, index: number): Either.Either<DecodeError, Entry> => {
  if (index === 0) {
    const format = isRecord(value) ? value["format"] : undefined;
    if (typeof format === "number" && format > journalFormat) return Either.left(newerFormat(format));
    return parsed<Entry>(firstEntrySchema, value, 0);
  }
  const event = isRecord(value) ? value["event"] : undefined;
  const unknownType = problemOfType(event, index, "event");
  return unknownType === null ? parsed<Entry>(laterEntrySchema, value, index) : Either.left(unknownType);
};

/** Reads a journal, or says which of its entries can't be read, and why. */
export const decodeJournal = (values: readonly unknown[]): Either.Either<DecodeError, readonly Entry[]> => {
  const entries: Entry[] = [];
  for (const [index, value] of values.entries()) {
    const entry = decodeEntry(value, index);
    if (Either.isLeft(entry)) return entry;
    entries.push(entry.right);
  }
  return Either.right(entries);
};

/** A decode error in one sentence. */
export const describeDecodeError = ({ index, path, reason }: DecodeError): string =>
  [index === null ? "the event" : `entry ${index}`, path === "" ? "" : ` at "${path}"`, `: ${reason}`].join("");

const knownTypes: readonly string[] = eventSchema.options.map((option) => option.shape.type.value);

const problemOfType = (event: unknown, index: number | null, path: string): DecodeError | null => {
  if (!isRecord(event)) return { index, path, reason: `expected an event, got ${preview(event)}` };
  const { type } = event;
  if (typeof type === "string" && knownTypes.includes(type)) return null;
  const reason = `unknown event type ${preview(type)}; a newer version may have written it. Known are: ${knownTypes.join(", ")}`;
  return { index, path: path === "" ? "type" : `${path}.type`, reason };
};

const newerFormat = (format: number): DecodeError => ({
  index: 0,
  path: "format",
  reason: `the journal has format ${format}, and this version reads up to ${journalFormat}: read it with a newer version`,
});

const parsed = <Value>(schema: ZodType, value: unknown, index: number | null): Either.Either<DecodeError, Value> => {
  const result = schema.safeParse(value);
  // The schemas are held to the types where they are declared; zod's own type spells optional fields otherwise.
  if (result.success) return Either.right(result.data as Value);
  const issue = result.error.issues[0];
  return Either.left({ index, path: issue?.path.join(".") ?? "", reason: issue?.message ?? "it can't be read" });
};

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const preview = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 80);
