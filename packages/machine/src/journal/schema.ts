import * as zod from "zod/mini";
import { firstFormat } from "../conversation/protocol/entry.ts";
import { decidedSchema } from "./decided-schema.ts";
import { eventSchemaOf, startedSchema } from "./event-schema.ts";
import { accountSchemas, messageSchemas, object, optional } from "./message-schema.ts";

/** What is built when it is first asked for, and kept. */
const builtLate = <Value extends object>(build: () => Value): (() => Value) => {
  let built: Value | undefined;
  return () => (built ??= build());
};

/**
 * The shapes of all formats. Objects are loose: fields that this version does not know survive decoding. An event
 * of a type that it does not know is refused, since folding could not apply it.
 *
 * They are built with the first entry that its shape leaves to them: that takes as long as loading the rest of a package, and
 * not every process reads a journal with a fault.
 */
export const journalSchemas = builtLate(() => {
  const shapes = { ...messageSchemas(), ...accountSchemas() };
  const event = eventSchemaOf(shapes);
  return {
    /** Any event but the first. */
    event,
    eventTypes: event.def.options.flatMap((option) => option.def.shape.type.def.values),
    /** The entry that begins a journal. */
    first: object({
      seq: zod.literal(0),
      format: zod.literal(firstFormat),
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

/** What may be decided of an event, by itself. */
export const decidedSchemas = builtLate(() => decidedSchema(messageSchemas()));
