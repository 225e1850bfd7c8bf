import { describe, expect, test } from "vitest";
import { type ContentPart, type Message, messageFromDraft } from "../../src/index.ts";
import { withFields } from "../../src/prompt/cut.ts";

const data = (field: string): ContentPart => ({ type: "data", field, value: `the ${field}` });

const asked = messageFromDraft("1.0", { role: "user", content: [data("question"), data("documents")] });
const answered = messageFromDraft("1.1", { role: "assistant", content: [data("answer"), data("reasoning")] });

const fieldsIn = (message: Message | null): readonly string[] =>
  message?.parts.flatMap((part) => (part.type === "data" ? [part.field] : [])) ?? [];

describe("withFields", () => {
  test("inputs are all that is shown of a user's, and concern no other role", () => {
    expect(fieldsIn(withFields(asked, { inputs: ["question"] }))).toEqual(["question"]);
    expect(withFields(answered, { inputs: ["question"] })).toBe(answered);
  });
});
