import type { Content, MachineOptions, SeedDraft, ThreadInput, ToolDeclaration } from "@colloquy/machine";
import fc from "fast-check";
import { policyArbitrary } from "../../arbitraries/policy.ts";
import { recordOf } from "../../arbitraries/values.ts";
import type { Move } from "../../arbitraries/schedule.ts";
import { named } from "../../arbitraries/schedule-arbitrary.ts";
import { type OddReply, oddReplyArbitrary, oddTextArbitrary } from "./wire-target.ts";

export interface WirePlay {
  readonly options: MachineOptions;
  readonly input: ThreadInput;
  /** The index of the target that answers first, modulo the number of targets. */
  readonly target: number;
  readonly moves: readonly WireMove[];
}

export type WireMove =
  | Move
  /**
   * Answers the outstanding effect. A reply answers a model call, which may be stopped at its break; a result answers a
   * tool call.
   */
  | {
      readonly move: "carryOn";
      readonly reply: OddReply;
      readonly stopped: boolean;
      readonly result: Content;
      readonly failed: boolean;
    }
  /** Another target answers from here on. */
  | { readonly move: "switch"; readonly target: number };

export const wirePlayArbitrary: fc.Arbitrary<WirePlay> = fc
  .uniqueArray(toolArbitrary(), { selector: ({ name }) => name, maxLength: 3 })
  .chain((tools) =>
    recordOf({
      options: optionsArbitrary(tools),
      input: inputArbitrary(),
      target: fc.nat({ max: 99 }),
      moves: fc.array(moveArbitrary(tools.map(({ name }) => name)), { minLength: 2, maxLength: 16, size: "max" }),
    }),
  );

function toolArbitrary(): fc.Arbitrary<ToolDeclaration> {
  const oddKeys = { type: "object", properties: { "filter[id]": { type: "string" }, ["x".repeat(65)]: {}, "": {} } };
  return recordOf(
    {
      name: fc.constantFrom("look", "look", "mcp.look", "look up", "1st", "naïve", "x".repeat(65), "-dash"),
      recovery: fc.constant("rerun" as const),
    },
    {
      description: fc.constant("Looks."),
      // Schemas that servers of the Model Context Protocol declare.
      parameters: fc.constantFrom(
        { type: "object" },
        {},
        { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        { type: "object", properties: { all: { type: "array" } } },
        {
          type: "object",
          properties: { a: { type: ["string", "array", "null"], description: "a", pattern: "^\\d+" } },
        },
        {
          type: "object",
          properties: { a: { type: "string", anyOf: [{ format: "date" }, {}, false] }, b: false, c: {} },
        },
        { type: "object", properties: { $filter: oddKeys, "a b": {} }, required: ["a b"] },
        { anyOf: [oddKeys, { type: "object", properties: { all: { type: "array", items: oddKeys } } }] },
      ),
    },
  );
}

function optionsArbitrary(tools: readonly ToolDeclaration[]): fc.Arbitrary<MachineOptions> {
  return recordOf(
    { tools: fc.constant(tools), retry: fc.constant({ attempts: 2, baseDelayMs: 0 }) },
    {
      policy: policyArbitrary,
      budget: fc.constantFrom(
        null,
        { tokens: 60, reserve: 0 },
        { tokens: 200, reserve: 20 },
        { tokens: 900, reserve: 100 },
      ),
      interrupted: fc.constantFrom("keep", "omit"),
    },
  );
}

const image = { type: "image" as const, url: "data:image/png;base64,AA==" };
const text = oddTextArbitrary.map((content) => ({ type: "text" as const, text: content }));

const questionArbitrary: fc.Arbitrary<Content> = fc.oneof(
  { weight: 4, arbitrary: oddTextArbitrary },
  { weight: 1, arbitrary: fc.array(text, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.tuple(text, fc.constant({ type: "data" as const, field: "city", value: "Oslo" })) },
);

/** Results often contain images, such as screenshots. */
const resultArbitrary: fc.Arbitrary<Content> = fc.oneof(
  { weight: 3, arbitrary: questionArbitrary },
  { weight: 1, arbitrary: fc.tuple(text, fc.constant(image)) },
  { weight: 1, arbitrary: fc.constant([image]) },
);

/** Models of other libraries answer in several messages, the last of which has the calls. */
const said: SeedDraft = { role: "assistant", content: "Wait." };

function inputArbitrary(): fc.Arbitrary<ThreadInput> {
  const systems = fc.constantFrom<readonly SeedDraft[]>([], [{ role: "developer", content: "Be brief." }]);
  const round: fc.Arbitrary<readonly SeedDraft[]> = fc
    .tuple(systems, fc.constantFrom("call_0", "a.b", ""), fc.constantFrom<readonly SeedDraft[]>([], [said, said]))
    .map(([before, id, replies]) => [
      ...before,
      { role: "user", content: "Look." },
      ...replies,
      { role: "assistant", content: "", toolCalls: [{ id, name: "look", arguments: "{" }] },
      { role: "tool", toolCallId: id, content: "rain" },
      { role: "assistant", content: "It rains." },
    ]);
  return recordOf(
    { at: fc.constant(1_700_000_000_000), threadId: fc.constant("t") },
    {
      system: fc.oneof(oddTextArbitrary, fc.constant({ role: "developer" as const, content: "Be kind." })),
      seed: round,
    },
  );
}

function moveArbitrary(tools: readonly string[]): fc.Arbitrary<WireMove> {
  const pick = fc.nat({ max: 9 });
  const carryOn = recordOf({
    move: fc.constant("carryOn" as const),
    reply: oddReplyArbitrary(tools),
    stopped: fc.boolean(),
    result: resultArbitrary,
    failed: fc.constantFrom(false, false, true),
  });
  const ask = named(
    "ask",
    { input: questionArbitrary },
    { name: fc.constantFrom("Ann", "Ann Lee", "naïve 👋", "\ud83d") },
  );
  const append = named("append", {
    // A reply that is appended before a call asks the model to continue it; not all servers accept that.
    message: recordOf({ role: fc.constantFrom("user", "system"), content: oddTextArbitrary }),
  });
  const edits = fc.oneof(
    named("truncate", { pick, characters: fc.nat({ max: 12 }) }),
    named("moveHead", { to: pick }),
    named("pin", { pick, pinned: fc.boolean() }),
    named("changeSystem", { system: fc.option(oddTextArbitrary) }),
    named("redact", { pick }),
  );
  const moves: fc.Arbitrary<Move> = fc
    .oneof(
      { weight: 5, arbitrary: ask },
      { weight: 1, arbitrary: named("cancel", { whom: fc.constant("open" as const) }) },
      { weight: 1, arbitrary: append },
      { weight: 2, arbitrary: edits },
    )
    .map((move) => ({ afterMs: 10, ...move }));
  return fc.oneof(
    { weight: 14, arbitrary: carryOn },
    { weight: 2, arbitrary: recordOf({ move: fc.constant("switch" as const), target: fc.nat({ max: 99 }) }) },
    { weight: 9, arbitrary: moves },
  );
}
