import { type Message, messageFromReply, type ReplyDraft } from "@colloquy/machine";
import { fc, test as property } from "@fast-check/vitest";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { toModelMessages } from "../../src/ai-sdk/model-messages.ts";
import { replyFromModelMessages } from "../../src/ai-sdk/reply.ts";
import { toUiMessages } from "../../src/ai-sdk/ui-messages.ts";
import { runs } from "../../../../test/runs.ts";

const replyOf = (...given: Parameters<typeof replyFromModelMessages>): ReplyDraft => {
  const reply = replyFromModelMessages(...given);
  if (Either.isLeft(reply)) throw new Error(reply.left);
  return reply.right;
};

/** Returns the message that a thread keeps. */
const kept = (reply: ReplyDraft): Message => messageFromReply("1.1", "t/1.1", reply);

const optionsArbitrary = fc.option(
  fc.dictionary(fc.constantFrom("anthropic", "openai"), fc.dictionary(fc.string(), fc.jsonValue() as never), {
    minKeys: 1,
  }),
  { nil: undefined },
);
const withOptions = (part: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record({ ...part, providerOptions: optionsArbitrary });
const wordsArbitrary = fc.string({ minLength: 1 });
const saidArbitrary = fc.oneof(
  withOptions({ type: fc.constant("text"), text: wordsArbitrary }),
  withOptions({ type: fc.constant("reasoning"), text: fc.string() }),
  fc.record({ type: fc.constant("custom"), kind: fc.constant("openai.compaction") }),
  fc.record({
    type: fc.constant("tool-call"),
    toolCallId: fc.constant("provider's"),
    toolName: fc.constant("search"),
    input: fc.constant({}),
    providerExecuted: fc.constant(true),
  }),
);
const callArbitrary = withOptions({
  type: fc.constant("tool-call"),
  toolName: fc.string(),
  input: fc.dictionary(fc.string(), fc.jsonValue()),
});
const contentArbitrary = fc
  .array(fc.oneof(saidArbitrary, callArbitrary), { minLength: 1, maxLength: 8 })
  .map((parts) => JSON.parse(JSON.stringify(parts)) as readonly Record<string, unknown>[])
  .map((parts) =>
    parts.map((part, place) => ({
      ...("toolName" in part && !("toolCallId" in part) ? { toolCallId: `c${place}` } : {}),
      ...part,
    })),
  );

/** Returns the written form: a single text without options becomes a plain text. */
const written = (content: readonly Record<string, unknown>[]): unknown => {
  const [only, second] = content;
  const isPlain = only !== undefined && second === undefined && only["type"] === "text" && !("providerOptions" in only);
  return isPlain ? only["text"] : content;
};

describe("the reply that a step's messages are", () => {
  property.prop([contentArbitrary], { seed: 12, numRuns: runs(200) })(
    "goes back as the messages that it was, in their order",
    (content) => {
      const message = kept(replyOf([{ role: "assistant", content }]));
      const { value, losses } = toModelMessages([message]);
      expect(losses.filter(({ what }) => !what.startsWith("no result for call"))).toEqual([]);
      expect(value).toEqual([{ role: "assistant", content: written(content) }]);
    },
  );

  property.prop([fc.jsonValue()], { seed: 12 })("is there, or there are words why not", (messages) => {
    const reply = replyFromModelMessages(messages);
    expect(Either.isRight(reply) || reply.left !== "").toBe(true);
  });

  test("of several steps is refused with a reason", () => {
    const said = { role: "assistant", content: "Hi" };
    expect(replyFromModelMessages([said, said])).toEqual(
      Either.left("2 messages of a model: a reply is one; import several by fromModelMessages"),
    );
  });

  test("keeps its sources for UI messages, and sends them to no model", () => {
    const sources = [
      { type: "source", sourceType: "url", id: "1", url: "https://example.org/", title: undefined },
      { type: "source", sourceType: "document", id: "2", mediaType: "text/plain", title: "Notes" },
      "none",
    ];
    const message = kept(replyOf([{ role: "assistant", content: "Hi" }], { sources }));
    expect(toModelMessages([message]).value).toEqual([{ role: "assistant", content: "Hi" }]);
    expect(toUiMessages([message]).value).toMatchObject([
      {
        parts: [
          { type: "step-start" },
          { type: "text", text: "Hi" },
          { type: "source-url", sourceId: "1", url: "https://example.org/" },
          { type: "source-document", sourceId: "2", mediaType: "text/plain", title: "Notes" },
        ],
      },
    ]);
  });
});
