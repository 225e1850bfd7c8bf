import * as zod from "zod/mini";
import { journalFormat } from "../conversation/protocol/entry.ts";
import { decidedSchema } from "./decided-schema.ts";
import { eventSchemaOf, startedSchema } from "./event-schema.ts";
import { accountSchemas, messageSchemas, object, optional } from "./message-schema.ts";

/** Returns a function that builds a value on its first call and keeps it. */
const builtLate = <Value extends object>(build: () => Value): (() => Value) => {
  let built: Value | undefined;
  return () => (built ??= build());
};

/**
 * Returns the schemas of entries. Objects are loose: unknown fields survive decoding. An event of an unknown type
 * is refused, since folding could not apply it.
 *
 * They are built when the first entry needs them. Building them takes as long as loading the rest of a package, and
 * few processes read an invalid journal.
 */
export const journalSchemas = builtLate(() => {
  const shapes = { ...messageSchemas(), ...accountSchemas() };
  const event = eventSchemaOf(shapes);
  return {
    /** Any event but the first. */
    event,
    eventTypes: event.def.options.flatMap((option) => option.def.shape.type.def.values),
    /** The first entry of a journal. */
    first: object({
      seq: zod.literal(0),
      format: zod.literal(journalFormat),
      event: startedSchema(shapes),
      redacted: optional(zod.literal(true)),
    }),
    /** Any other entry. */
    later: object({
      seq: zod.int().check(zod.positive()),
      event,
      decided: optional(decidedSchemas()),
      recovered: optional(zod.literal(true)),
      redacted: optional(zod.literal(true)),
    }),
  };
});

/** Returns the schema of decisions. */
export const decidedSchemas = builtLate(() => decidedSchema(messageSchemas()));
