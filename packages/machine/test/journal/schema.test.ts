import { expect, test } from "vitest";
import type { infer as Inferred } from "zod";
import type { Event, FirstEntry, Json, LaterEntry, ReplyDraft, RoundAppended } from "../../src/index.ts";
import type { journalSchemas } from "../../src/journal/schema.ts";

type Schemas = ReturnType<typeof journalSchemas>;

/**
 * A type without the differences in spelling between schemas and types: `readonly`, `undefined` beside absent members,
 * the open end of a loose object, and JSON, which has no end. Optional members are marked, so that a member on one side
 * alone is noticed.
 */
type Plain<Value> = Value extends readonly (infer Item)[]
  ? PlainMember<Item>[]
  : Value extends object
    ? {
        -readonly [Member in keyof Value as string extends Member ? never : Member]-?: undefined extends Value[Member]
          ? ["optional", PlainMember<Value[Member]>]
          : PlainMember<Value[Member]>;
      }
    : Value;

type PlainMember<Value> = [JsonValue] extends [Value] ? "json" : Plain<Exclude<Value, undefined>>;

/** As zod has it, which has lists that may be written to. */
type JsonValue = string | number | boolean | null | JsonValue[] | { [member: string]: JsonValue };

type Same<Left, Right> = [Left, Right] extends [Right, Left] ? true : false;

type Both<Type extends string, Of> = Of extends { readonly type: Type } ? Of : never;

/** The types of all events. That a round has at least one call its type can't say. */
type Typed =
  | Exclude<Event, RoundAppended>
  | (Omit<RoundAppended, "reply"> & { readonly reply: ReplyDraft & Required<Pick<ReplyDraft, "toolCalls">> });

/** For each type of event whether its schema is its type: a difference names the event. */
type Drift = {
  [Type in Event["type"]]: Same<Plain<Both<Type, Typed>>, Plain<Both<Type, Inferred<Schemas["event"]>>>> extends true
    ? never
    : Type;
}[Event["type"]];

test("schemas and types say the same", () => {
  const events: Same<Drift, never> = true;
  const types: Same<Event["type"], Inferred<Schemas["event"]>["type"]> = true;
  const first: Same<Plain<FirstEntry>, Plain<Inferred<Schemas["first"]>>> = true;
  const decided: Same<Plain<LaterEntry["decided"]>, Plain<Inferred<Schemas["later"]>["decided"]>> = true;
  const marks: Same<keyof Plain<LaterEntry>, keyof Plain<Inferred<Schemas["later"]>>> = true;
  const json: Same<Plain<{ value: Json }>, { value: "json" }> = true;
  expect([events, types, first, decided, marks, json]).not.toContain(false);
});
