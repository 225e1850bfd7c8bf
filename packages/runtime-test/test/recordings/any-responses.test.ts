import { fc, test } from "@fast-check/vitest";
import type { JsonObject } from "@colloquy/machine";
import { canonicalItemOf, parseCase, replayCase, sha256OfItems } from "@colloquy/runtime-test/recordings";
import * as Either from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import { runs } from "../../../../test/runs.ts";

const text = fc.constantFrom("hello", "", " ", 'a\n"b" ⛴');

const part = fc.constantFrom<JsonObject>(
  { type: "input_text", text: "x" },
  { type: "input_image", image_url: "https://a/b.png", detail: "auto" },
  { type: "input_image", file_id: "file_1", image_url: null, detail: "low" },
  { type: "input_file", file_url: "https://a/b.pdf" },
  { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
);

const outputPart = fc.constantFrom<JsonObject>(
  { type: "output_text", text: "x", annotations: [{ type: "url_citation", url: "u" }] },
  { type: "refusal", refusal: "I can't." },
);

const message = (role: fc.Arbitrary<string>, parts: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.record({ type: fc.constant("message"), role, content: fc.oneof(text, fc.array(parts, { maxLength: 3 })) });

const asked = message(fc.constant("user"), part);
const assistant = message(fc.constant("assistant"), outputPart);

/** Draws items of built-in tools, reasoning and references, of which a recording keeps no more. */
const odd = fc.record({
  type: fc.constantFrom(
    "reasoning",
    "item_reference",
    "web_search_call",
    "custom_tool_call",
    "compaction",
    "__proto__",
  ),
  id: fc.constantFrom("i1", "i2", null),
});

const call = fc.record({
  type: fc.constant("function_call"),
  call_id: fc.constantFrom("a", "b", "c", "", null),
  name: fc.constantFrom("tide", "", "constructor"),
  arguments: fc.constantFrom("{}", "", '{ "at": 1 }', "no JSON"),
});

const outputOf = ({ call_id = null }: JsonObject): JsonObject => ({
  type: "function_call_output",
  call_id,
  output: [{ type: "input_text", text: "at six" }],
});

const given = fc
  .array(
    fc.oneof(
      fc.oneof(asked, message(fc.constantFrom("system", "developer"), part), assistant, odd).map((item) => [item]),
      call.map((item) => [item, outputOf(item)]),
    ),
    { maxLength: 3 },
  )
  .map((items): readonly JsonObject[] => items.flat());

const conversation = fc.record({
  instructions: fc.option(text),
  seed: given,
  first: asked,
  keeps: fc.constantFrom("all", "no reasoning", "an id"),
  exchanges: fc.array(
    fc.record({
      output: fc.array(fc.oneof<fc.Arbitrary<JsonObject>[]>(assistant, odd, call), { maxLength: 4 }),
      status: fc.constantFrom("completed", "incomplete", "failed", null),
      next: given,
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

// An honest recording never differs. A recording that no machine sends is reported as such.
test.prop([conversation], { numRuns: runs(200), seed: 12 })(
  "any conversation over the Responses API replays",
  (made) => {
    const { instructions, seed, first, keeps, exchanges } = made;
    let added = [...seed, first];
    let items = added;
    const steps: unknown[] = [{ type: "input", items }];
    const calls: unknown[] = [];
    for (const [k, { output, status, next }] of exchanges.entries()) {
      const previous = k > 0 && keeps === "an id" ? "resp_1" : null;
      const sent = previous === null ? items : added;
      calls.push({
        input_items: sent.length,
        sha256: sha256OfItems(sent.map(canonicalItemOf)),
        previous_response_id: previous,
      });
      const kept = output.filter(({ type }) => keeps !== "no reasoning" || type !== "reasoning");
      added = [...kept.filter(({ type }) => type === "function_call").map(outputOf), ...next];
      items = [...items, ...kept, ...added];
      steps.push({ type: "llm", output, status });
      if (k < exchanges.length - 1) steps.push({ type: "input", items: added });
    }
    const outputs = exchanges.flatMap(({ output }) => output);
    const recorded = parseCase({
      id: "any",
      api: "responses",
      instructions,
      steps,
      expect: {
        calls,
        llm_calls: exchanges.length,
        tool_calls: outputs.filter(({ type }) => type === "function_call").length,
        usage: null,
      },
    });
    if (Either.isLeft(recorded)) throw new Error(recorded.left);
    const { outcome, difference } = replayCase(recorded.right);
    if (outcome === "passed") return;
    expect(outcome).toBe("inexpressible");
    expect(difference?.words).toMatch(
      /a call without an id of its own|reasoning or a refusal that the client put there|calls of a reply that was cut/,
    );
  },
);
