import { messageFromReply } from "@colloquy/machine";
import { jsonArbitrary } from "@colloquy/runtime-test/arbitraries";
import { fc, test as property } from "@fast-check/vitest";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { toResponseItems } from "../../src/responses/items.ts";
import { replyFromResponseItems } from "../../src/responses/output.ts";

type Item = Readonly<Record<string, unknown>> & { readonly type: string };

const replyOf = (items: unknown) => {
  const read = replyFromResponseItems(items);
  if (Either.isLeft(read)) throw new Error(read.left.reason);
  return read.right;
};

/** Returns the items that are sent back for a reply, after it was a thread's message. */
const sentBack = (items: unknown): unknown => toResponseItems([messageFromReply("1.1", "1.1", replyOf(items))]).value;

/** Returns the values as a thread keeps them, without lone surrogates. */
const wellFormed = (items: readonly object[]): unknown =>
  JSON.parse(JSON.stringify(items), (_, value: unknown) => {
    if (typeof value === "string") return value.toWellFormed();
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]));
  });

const text = fc.string();
const token = fc.string({ minLength: 1 });
const fieldArbitrary = fc.record({ status: fc.constantFrom("completed", "incomplete") }, { requiredKeys: [] });

const contentArbitrary = fc.oneof(
  fc.record(
    {
      type: fc.constant("output_text"),
      text,
      annotations: fc.array(fc.record({ type: fc.constant("url_citation"), url: text }), { maxLength: 1 }),
      logprobs: fc.constant([{ token: "a", logprob: -1 }]),
    },
    { requiredKeys: ["type", "text", "annotations"] },
  ),
  fc.record({ type: fc.constant("refusal"), refusal: text }),
);

/** Draws any output, in any order. A message without an id is written in an equivalent shorter form. */
const itemsArbitrary: fc.Arbitrary<readonly Item[]> = fc
  .array(
    fc.oneof<fc.Arbitrary<Item>[]>(
      fc
        .tuple(
          fc.record(
            {
              type: fc.constant("message"),
              role: fc.constant("assistant"),
              id: token,
              content: fc.array(contentArbitrary, { maxLength: 3 }),
              phase: fc.constantFrom("commentary", "final_answer"),
            },
            { requiredKeys: ["type", "role", "id", "content"] },
          ),
          fieldArbitrary,
        )
        .map(([item, fields]) => ({ ...item, ...fields })),
      fc.record({
        type: fc.constant("reasoning"),
        id: token,
        summary: fc.array(fc.record({ type: fc.constant("summary_text"), text }), { maxLength: 2 }),
        encrypted_content: fc.option(token),
      }),
      fc.record(
        { type: fc.constant("function_call"), id: token, call_id: token, name: token, arguments: text },
        { requiredKeys: ["type", "call_id", "name", "arguments"] },
      ),
      fc.record({ type: fc.constant("custom_tool_call"), call_id: token, name: token, input: text }),
      fc.record({ type: fc.constant("local_shell_call"), call_id: token, action: fc.constant({ type: "exec" }) }),
      fc.record({ type: fc.constant("web_search_call"), id: token, status: text }),
      fc.record({ type: fc.constant("hologram_of_tomorrow"), id: token, light: jsonArbitrary }),
    ),
    { maxLength: 8 },
  )
  .map((items) => items.map((item, index) => ("call_id" in item ? { ...item, call_id: `call_${index}` } : item)));

describe("the items of an output", () => {
  property.prop([itemsArbitrary])("come back in well-formed text, once they were a reply of a thread", (items) => {
    fc.pre(items.length > 0);
    expect(sentBack(items)).toEqual(wellFormed(items));
  });

  property.prop([itemsArbitrary])("are calls in the order in which they stood", (items) => {
    const called = items.filter(({ type }) => /^(function|custom_tool|local_shell)_call$/.test(type));
    expect((replyOf(items).toolCalls ?? []).map(({ id }) => id)).toEqual(called.map((item) => item["call_id"]));
  });

  property.prop([fc.jsonValue()])("are read, or refused with a reason", (items) => {
    const read = replyFromResponseItems(items);
    if (Either.isLeft(read)) expect(read.left.reason).not.toBe("");
  });

  test.each<readonly [string, unknown, string]>([
    ["not an object", 7, "item 0 is not a Responses item: expected an object"],
    ["without a valid type", { type: 7 }, "item 0 is not a Responses item: its type is not a text"],
  ])("replyFromResponseItems rejects an item that is %s", (_, item, reason) => {
    expect(replyFromResponseItems([item])).toMatchObject({ left: { index: 0, reason } });
  });

  test.each<readonly [string, object, boolean]>([
    ["without a type or a role", { content: "A" }, true],
    ["of a user", { role: "user", content: "A" }, false],
    ["with an empty text", { role: "assistant", content: "" }, false],
    ["without parts", { role: "assistant", content: [] }, false],
    ["with a refusal", { role: "assistant", content: [{ type: "refusal", refusal: "No." }] }, true],
    ["that begins with a text", { content: [{ type: "output_text", text: "A" }, { type: "hologram" }] }, true],
    [
      "that begins with an unknown part",
      { content: [{ type: "hologram" }, { type: "output_text", text: "A" }] },
      false,
    ],
    ["whose content is a number", { content: 7 }, false],
  ])("replyFromResponseItems keeps a message that it cannot read as it is: a message %s", (_, message, isRead) => {
    const foreign = { type: "opaque", value: { type: "foreign", format: "responses", value: message } };
    expect(JSON.stringify(replyOf([message]).content) === JSON.stringify([foreign])).toBe(!isRead);
  });

  test("may be forty thousand: copying all that came before for each would not end", () => {
    const items = Array.from({ length: 20_000 }, (_, index) => [
      { type: "function_call", id: `fc_${index}`, call_id: `c${index}`, name: "weather", arguments: "{}" },
      { type: "reasoning", id: `rs_${index}`, summary: [] },
    ]).flat();
    const { content, toolCalls } = replyOf(items);
    expect([content?.length, toolCalls?.length]).toEqual([20_000, 20_000]);
    expect(toolCalls?.at(-1)).toMatchObject({ provider: { responses: { place: 19_999 } } });
  });
});
