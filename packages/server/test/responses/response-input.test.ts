import type { JsonObject } from "@colloquy/machine";
import { expect, test } from "vitest";
import { readInput } from "../../src/responses/response-input.ts";

const user = (content: string): JsonObject => ({ type: "message", role: "user", content });
const model = (content: string): JsonObject => ({ type: "message", role: "assistant", content });
const reference = (id: JsonObject["id"]): JsonObject => ({ type: "item_reference", id });
const call = (id: string, more: object = {}): JsonObject => {
  return { type: "function_call", call_id: id, name: "look", arguments: "{}", ...more };
};
const output = (id: JsonObject["id"], text: JsonObject["output"] = "4"): JsonObject => {
  return { type: "function_call_output", call_id: id, output: text };
};
const approval = (id: JsonObject["id"], more: object = { approve: true }): JsonObject => {
  return { type: "mcp_approval_response", approval_request_id: id, ...more };
};
const [one, two, item] = ["call_1_1_0_t", "call_1_1_1_t", "msg_1_2_0_t"];

/** Reads an input. Returns what is there, with the roles of each earlier turn and the ids of places. */
const read = (input: string | readonly JsonObject[] | undefined): object => {
  const { system, history, said, answers, approvals, behind, resent, repaired } = readInput({ input });
  const found = {
    system,
    history: history.map((turn) => turn.map(({ role }) => role).join(" ")),
    said: said.map(({ content }) => content),
    answers: answers.map(({ place, output: text }) => [place.id, text]),
    approvals: approvals.map(({ place, ...rest }) => ({ id: place.id, ...rest })),
    behind: behind?.id ?? null,
    resent: resent.map(({ place, name, arguments: written, output: text }) => [place.id, name, written, text]),
    repaired,
  };
  return Object.fromEntries(
    Object.entries(found).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value !== null)),
  );
};

test.each<readonly [string, string | readonly JsonObject[] | undefined, object]>([
  ["a text", "hi", { said: ["hi"] }],
  ["no input", undefined, {}],
  ["an empty list", [], {}],
  ["a message", [user("hi")], { said: ["hi"] }],
  ["an earlier turn", [user("a"), model("b")], { history: ["user assistant"] }],
  ["an earlier turn and a message", [user("a"), model("b"), user("c")], { history: ["user assistant"], said: ["c"] }],
  ["a system message", [{ role: "system", content: "s" }, user("a")], { system: expect.anything(), said: ["a"] }],
  ["what is not known, before a message", [{ type: "odd" }, user("a")], { said: ["a"] }],
  ["a reference before a message", [user("x"), reference(item), user("a")], { behind: item, said: ["a"] }],
  ["the newest of two references", [reference("msg_1_1_0_t"), user("x"), reference(item)], { behind: item }],
  [
    "a system message before a reference",
    [{ role: "developer", content: "s" }, user("x"), reference(item), user("a")],
    { system: expect.anything(), behind: item, said: ["a"] },
  ],
  [
    "a system message that is not the first before a reference",
    [user("x"), { role: "system", content: "s" }, reference(item), user("a")],
    { behind: item, said: ["a"] },
  ],
  ["an output of a call of this server", [output(one)], { answers: [[one, "4"]] }],
  ["an output without a text", [output(one, null)], { answers: [[one, ""]] }],
  ["an output and a message", [output(one), user("a")], { answers: [[one, "4"]], said: ["a"] }],
  [
    "an output with its call",
    [user("a"), call(one), output(one)],
    { history: ["user assistant tool"], resent: [[one, "look", "{}", "4"]] },
  ],
  [
    "outputs with their calls",
    [call(one), call(two), output(one), output(two, "5")],
    {
      history: [expect.stringContaining("tool")],
      resent: [
        [one, "look", "{}", "4"],
        [two, "look", "{}", "5"],
      ],
    },
  ],
  [
    "an output with its call, before a message",
    [user("a"), call(one), output(one), user("b")],
    { history: ["user assistant tool"], said: ["b"] },
  ],
  [
    "an output with the call of another server",
    [user("a"), call("other"), output("other")],
    { history: ["user assistant tool"] },
  ],
  [
    "outputs of which one has no call of this server",
    [user("a"), call(one), call("other"), output(one), output("other")],
    { history: ["user assistant tool tool"] },
  ],
  [
    "an output with a call that has another form than those of this server",
    [user("a"), { type: "local_shell_call", call_id: one, action: { type: "exec", command: ["ls"] } }, output(one)],
    { history: ["user assistant tool"] },
  ],
  ...[
    { type: "custom_tool_call", call_id: one, name: "look", input: "x" },
    { type: "local_shell_call", call_id: one, arguments: "{}", action: { type: "exec", command: ["ls"] } },
  ].map(
    (sent) =>
      [
        `an output with a ${sent.type}, which has no name or no arguments`,
        [user("a"), sent, output(one)],
        { history: ["user assistant tool"] },
      ] as const,
  ),
  [
    "an approval",
    [approval("mcpr1_1_1_0_t")],
    { approvals: [{ id: "mcpr1_1_1_0_t", number: 1, approve: true, reason: null }] },
  ],
  [
    "a denial with its reason",
    [approval("mcpr12_1_1_0_t", { approve: false, reason: "too dear" })],
    { approvals: [{ id: "mcpr12_1_1_0_t", number: 12, approve: false, reason: "too dear" }] },
  ],
  [
    "a denial whose reason is no text",
    [approval("mcpr1_1_1_0_t", { approve: false, reason: 7 })],
    { approvals: [{ id: "mcpr1_1_1_0_t", number: 1, approve: false, reason: null }] },
  ],
  [
    "a call that a server ran, and what a client need not send",
    [
      user("a"),
      { type: "mcp_list_tools", server_label: "s", tools: [] },
      { type: "mcp_approval_request", id: "mcpr1_1_1_0_t", name: "look", arguments: "{}" },
      { type: "mcp_call", id: "mcp_1_1_0_t", name: "look", arguments: "{}", output: "4" },
    ],
    { history: ["user assistant tool"] },
  ],
  [
    "what a client need not send, after a message",
    [
      user("a"),
      { type: "mcp_list_tools", server_label: "s", tools: [] },
      { type: "mcp_approval_request", id: "mcpr1_1_1_0_t", name: "look", arguments: "{}" },
    ],
    { said: ["a"] },
  ],
  [
    "an output of an unknown call beside a message",
    [output("other"), user("a")],
    { said: ["a"], repaired: [expect.stringMatching(/^input\[0\]: /u)] },
  ],
  [
    "an output of an unknown call after what is skipped",
    [{ type: "odd" }, output("other"), user("a")],
    { said: ["a"], repaired: [expect.stringMatching(/^input\[1\]: /u)] },
  ],
])("the server reads %s", (_, input, expected) => {
  expect(read(input)).toEqual(expected);
});

test.each<readonly [string, readonly JsonObject[], string, string]>([
  [
    "only what it skips",
    [{ type: "odd" }],
    'input[0]: skipped; items of the type "odd" are not known here; no',
    "input",
  ],
  ["a reference to nothing", [reference("msg_x")], 'input[0]: there is no item "msg_x"; send the item itself', "input"],
  ["a reference by a number", [user("a"), reference(7)], "input[1]: there is no item 7;", "input"],
  ["an output of an unknown call alone", [output("other")], 'input[0]: no call "other" waits for its output', "input"],
  ["an output of no call", [output(7)], "input[0]: item 0 is not a function_call_output", "input[0]"],
  ["an output of an item", [output(item)], `input[0]: no call "${item}" waits for its output`, "input"],
  ["an approval of nothing", [approval("mcpr_1")], 'input[0]: there is no approval request "mcpr_1"', "input"],
  ["an approval by a number", [user("a"), approval(7)], "input[1]: there is no approval request 7", "input"],
  ["an approval of a message", [approval(item)], `input[0]: there is no approval request "${item}"`, "input"],
  ["the approval of no request", [approval("mcpr0_1_1_0_t")], "input[0]: there is no approval request", "input"],
  [
    "an approval that says neither",
    [approval("mcpr1_1_1_0_t", { approve: "yes" })],
    "input[0]: approve must be true or false",
    "input[0].approve",
  ],
  [
    "a message of another form, after what it skips",
    [{ type: "odd" }, { type: "message", role: "user", content: 7 }],
    "input[1]: ",
    "input[1]",
  ],
])("the server refuses %s, and names the item", (_, input, words, param) => {
  expect(() => readInput({ input })).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringContaining(words), param }),
  );
});

test.each<readonly [object, string]>([
  [{ output: "4", error: "no" }, "4"],
  [{ output: null, error: "it failed" }, "it failed"],
  [{}, ""],
])("the result of a call that a server ran is its output, or else its error: %j", (more, expected) => {
  const ran = { type: "mcp_call", id: "mcp_1_1_0_t", name: "look", arguments: "{}", ...more };
  const { history } = readInput({ input: [user("a"), ran] });
  expect(history.flat().find(({ role }) => role === "tool")).toMatchObject({ content: expected });
});
