import { describe, expect, test } from "vitest";
import {
  type ContentPart,
  digestOfMessage,
  type Message,
  messageFromDraft,
  messageFromResult,
} from "../../src/index.ts";
import { withFields } from "../../src/prompt/cut.ts";

const data = (field: string): ContentPart => ({ type: "data", field, value: `the ${field}` });

const asked = messageFromDraft("1.0", { role: "user", content: [data("question"), data("documents")] });
const answered = messageFromDraft("1.1", { role: "assistant", content: [data("answer"), data("reasoning")] });

const fieldsIn = (message: Message | null): readonly string[] =>
  message?.parts.flatMap((part) => (part.type === "data" ? [part.field] : [])) ?? [];

describe("withFields", () => {
  test("omit leaves fields out, of users and of models", () => {
    const fields = { omit: ["documents", "reasoning"] };
    expect(fieldsIn(withFields(asked, fields))).toEqual(["question"]);
    expect(fieldsIn(withFields(answered, fields))).toEqual(["answer"]);
  });

  test("inputs are all that is shown of a user's, and concern no other role", () => {
    expect(fieldsIn(withFields(asked, { inputs: ["question"] }))).toEqual(["question"]);
    expect(withFields(answered, { inputs: ["question"] })).toBe(answered);
  });

  test("omit is the stronger one", () => {
    expect(fieldsIn(withFields(asked, { inputs: ["question", "documents"], omit: ["question"] }))).toEqual([
      "documents",
    ]);
  });

  test("an empty list of inputs shows none, and a message of which nothing is left is left out", () => {
    expect(withFields(asked, { inputs: [] })).toBeNull();
    const withText = messageFromDraft("1.0", {
      role: "user",
      content: [{ type: "text", text: "Hi" }, data("question")],
    });
    expect(withFields(withText, { inputs: [] })?.parts).toEqual([{ type: "text", text: "Hi" }]);
  });

  test("the same message where nothing is left out, else the digest of what is left", () => {
    expect(withFields(asked, { omit: ["others"] })).toBe(asked);
    expect(withFields(asked, {})).toBe(asked);
    const silent = messageFromDraft("1.0", { role: "user", content: "" });
    expect(withFields(silent, { inputs: [] })).toBe(silent);
    const left = withFields(asked, { omit: ["documents"] });
    expect(left?.digest).toBe(left === null ? "" : digestOfMessage(left));
    expect(left?.digest).not.toBe(asked.digest);
  });

  test("the fields of a tool result are the tool's own", () => {
    const found = messageFromResult({ callId: "1.1.0", providerCallId: null, name: "find" }, "completed", [
      data("documents"),
    ]);
    expect(withFields(found, { omit: ["documents"], inputs: [] })).toBe(found);
  });
});
