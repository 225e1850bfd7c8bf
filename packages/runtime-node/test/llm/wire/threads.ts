import {
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  type ReplyDraft,
  toolCallsOf,
} from "@colloquy/machine";
import fc from "fast-check";

// Contents of threads that some server refuses.

const half = "\ud83d";
const texts = fc.constantFrom("Hello.", "", " \n", `cut ${half}`, "two\nlines");
const ids = fc.constantFrom("call_1", "a", "functions.look:0", "abcdefghi", "", "x".repeat(80), "with space", null);
const names = fc.constantFrom("look", "look around", "a.b", "n".repeat(65), "1st", "größe", "");
const written = fc.constantFrom("{}", '{"a": 1}', '{"city":"Os', "", "null", "[1]", '"text"', `{"a":"${half}"}`);
const image = { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" } as const;

/** A part that only the Responses API can read. */
const search = {
  type: "opaque",
  value: { type: "foreign", format: "responses", value: { type: "web_search_call", id: "ws_1" } },
} as const;

/** Fields of every server. */
const fields = { reasoning_details: [{ type: "reasoning.text", text: "hm" }], extra_content: { google: {} } };
const reasoning = { type: "reasoning", text: "hm", provider: { fields: ["reasoning_content"] } } as const;
const item = { type: "reasoning", id: "rs_1", encrypted_content: "ENC", summary: [] };
const encrypted = { type: "reasoning", text: "", provider: { responses: { item } } } as const;

const replies: fc.Arbitrary<ReplyDraft> = fc.record(
  {
    content: fc.array(
      fc.oneof(
        texts.map((text) => ({ type: "text", text }) as const),
        fc.constantFrom(reasoning, encrypted, image, search, { type: "refusal", text: "No." } as const),
      ),
      { maxLength: 3 },
    ),
    toolCalls: fc.array(
      fc.record(
        {
          id: ids,
          name: names,
          arguments: written,
          provider: fc.constantFrom({ extra_content: { google: { thought_signature: "S" } } }, { type: "custom" }),
        },
        { requiredKeys: ["id", "name", "arguments"] },
      ),
      { maxLength: 3 },
    ),
    provider: fc.constant(fields),
  },
  { requiredKeys: [] },
);

const results = fc.array(
  fc.oneof(
    texts.map((text) => ({ type: "text", text }) as const),
    fc.constantFrom(image, { type: "data", field: "rows", value: [1] } as const),
  ),
  { maxLength: 3 },
);

const turns = fc.record({
  late: fc.constantFrom(undefined, undefined, "system" as const, "developer" as const),
  question: fc.oneof(texts, fc.constant([{ type: "text", text: "See" }, image] as const)),
  name: fc.constantFrom(undefined, "Ann", "Ann Lee", `<${half}>`),
  replies: fc.array(fc.record({ reply: replies, results: fc.array(results, { minLength: 3, maxLength: 3 }) }), {
    maxLength: 3,
  }),
});

/** Generates threads whose replies are from one origin, or of unknown origin. */
export const threads = (origin: string | null): fc.Arbitrary<readonly Message[]> =>
  fc
    .tuple(
      fc.constantFrom(null, "Be kind.", ""),
      fc.constantFrom(null, null, messageFromReply("s2", "s2", { content: "Hello, I am Bot." })),
      fc.array(turns, { minLength: 1, maxLength: 4 }),
    )
    .map(([system, greeting, all]): readonly Message[] => [
      ...(system === null ? [] : [messageFromDraft("s1", { role: "system", content: system })]),
      ...(greeting === null ? [] : [greeting]),
      ...all.flatMap(({ late, question, name, replies: steps }, turn) => [
        ...(late === undefined ? [] : [messageFromDraft(`${turn}.s`, { role: late, content: "Be brief." })]),
        messageFromDraft(`${turn}.0`, { role: "user", content: question, ...(name === undefined ? {} : { name }) }),
        ...steps.flatMap(({ reply, results: came }, step) => {
          const id = `${turn}.${step + 1}`;
          const provider = origin === null ? reply.provider : { ...reply.provider, origin };
          const message = messageFromReply(id, id, { ...reply, ...(provider === undefined ? {} : { provider }) });
          return [
            message,
            ...toolCallsOf(message).map((call, place) => messageFromResult(call, "completed", came[place] ?? "")),
          ];
        }),
      ]),
    ]);
