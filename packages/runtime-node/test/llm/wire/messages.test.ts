import {
  type JsonObject,
  type Message,
  type MessageDraft,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  type ReplyDraft,
  type ToolCallPart,
  toolCallsOf,
} from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { chatMessages } from "../../../src/llm/http-handlers.ts";
import { type Dialect, dialects } from "../../../src/llm/wire/dialects.ts";
import { wireMessages, WireState } from "../../../src/llm/wire/messages.ts";

const common = dialects["common"] ?? expect.unreachable();

/** Returns the messages as a server of the common dialect with these differences gets them. */
const sent = (differences: Partial<Dialect>, ...messages: readonly Message[]): readonly JsonObject[] => {
  const state = new WireState();
  const wire = { dialect: { ...common, ...differences }, origin: "here m", format: null };
  return chatMessages(wireMessages(messages, wire, state), "", state);
};

const image = { type: "image", url: "data:image/png;base64,AA==" } as const;
const shown = { type: "image_url", image_url: { url: image.url } };
const rows = { type: "data", field: "rows", value: [1] } as const;
const text = (words: string) => ({ type: "text", text: words }) as const;
const from = (role: "user" | "system" | "developer", content: MessageDraft["content"], id = "1"): Message =>
  messageFromDraft(id, { role, content });
const user = (content: MessageDraft["content"], id?: string): Message => from("user", content, id);
const reply = (draft: ReplyDraft, id = "1.1"): Message => messageFromReply(id, id, draft);
const asking = reply({ toolCalls: [{ id: "a", name: "look", arguments: "{}" }] });
const [call] = toolCallsOf(asking) as readonly [ToolCallPart];
const result = (content: Parameters<typeof messageFromResult>[2]): Message =>
  messageFromResult(call, "completed", content);

const called = {
  content: null,
  tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }],
};

describe("the texts of a message", () => {
  test.each<readonly [string, Partial<Dialect>, MessageDraft["content"], unknown]>([
    ["become one, with a line break where neither has white space", {}, [text("a"), text("b")], "a\nb"],
    ["become one, without another where one has white space", {}, [text("a "), text("b"), text("\nc")], "a b\nc"],
    ["become one with data", {}, [text("a"), rows], "a\nrows: [1]"],
    ["stay a list beside an image", {}, [text("a"), image, text("b")], [text("a"), shown, text("b")]],
    ["stay a list where that is taken", { texts: "listed" }, [text("a"), text("b")], [text("a"), text("b")]],
    ["are left out if they are blank", { texts: "listed" }, [text(" "), text("b"), text("\n")], "b"],
    ["are marked if all are blank", {}, [text(" "), text("")], "(no text)"],
    [
      "stay blank where that is taken",
      { texts: "listed", blank: "sent" },
      [text(" "), text("b")],
      [text(" "), text("b")],
    ],
    [
      "stay blank beside others",
      { texts: "listed", blank: "beside others" },
      [text(" "), text("b")],
      [text(" "), text("b")],
    ],
    ["are marked if there is nothing beside them", { blank: "beside others" }, [], "(no text)"],
    [
      "name an image that is not taken",
      { images: "none" },
      [text("a"), image],
      "a\n(a file that can't be shown to this model)",
    ],
  ])("%s", (_, differences, content, expected) => {
    expect(sent(differences, user(content))).toEqual([{ role: "user", content: expected }]);
  });
});

test("a part that only one server and format can read is sent to no other", () => {
  const foreign = { type: "opaque", value: { type: "foreign", format: "model", value: {} } } as const;
  const partsFor = (origin: string, format: "model" | "responses"): readonly (readonly string[])[] => {
    const content = [text("a"), foreign];
    const calling = reply({ content, toolCalls: [{ id: "a", name: "look", arguments: "{}" }], provider: { origin } });
    const results = toolCallsOf(calling).map((each) => messageFromResult(each, "completed", content));
    const wire = { dialect: common, origin: "here m", format };
    const [, ...others] = wireMessages([user("?"), calling, ...results], wire, new WireState());
    return others.map(({ parts }) =>
      parts
        .flatMap((part): readonly { type: string }[] => (part.type === "toolResult" ? part.content : [part]))
        .map(({ type }) => type),
    );
  };
  expect(partsFor("here m", "model")).toEqual([
    ["text", "opaque", "toolCall"],
    ["text", "opaque"],
  ]);
  for (const others of [partsFor("elsewhere m", "model"), partsFor("here m", "responses")])
    expect(others).toEqual([["text", "toolCall"], ["text"]]);
});

describe("system messages", () => {
  test("name their images, unless images are taken everywhere", () => {
    const message = from("system", [text("a"), image]);
    const named = "a\n(a file that can't be shown to this model)";
    expect(sent({}, message)).toEqual([{ role: "system", content: named }]);
    expect(sent({ images: "everywhere" }, message)).toEqual([{ role: "system", content: [text("a"), shown] }]);
  });

  const messages = [
    from("system", "one", "0"),
    from("developer", "two", "0.1"),
    user("?"),
    from("developer", "late", "2"),
  ];
  test.each<readonly [string, Partial<Dialect>, readonly (readonly [string, string])[]]>([
    [
      "become one at the beginning, and a user's later",
      {},
      [
        ["system", "one\n\ntwo"],
        ["user", "?"],
        ["user", "late"],
      ],
    ],
    [
      "stay apart where they may be anywhere",
      { systems: "anywhere" },
      [
        ["system", "one"],
        ["system", "two"],
        ["user", "?"],
        ["system", "late"],
      ],
    ],
    [
      "of developers have their own role where there is one",
      { systems: "anywhere", developers: "own role" },
      [
        ["system", "one"],
        ["developer", "two"],
        ["user", "?"],
        ["developer", "late"],
      ],
    ],
  ])("%s", (_, differences, expected) => {
    expect(sent(differences, ...messages)).toEqual(expected.map(([role, content]) => ({ role, content })));
  });

  test("that are blank are left out, and may be sent where blank texts are", () => {
    expect(sent({}, from("system", " "), user("?", "2"))).toEqual([{ role: "user", content: "?" }]);
    expect(sent({ blank: "sent" }, from("system", " "), user("?", "2"))).toHaveLength(2);
  });
});

describe("the order of messages", () => {
  const contents = (messages: readonly JsonObject[]): readonly unknown[] =>
    messages.map(({ role, content }) => [role, content]);
  const greeting = reply({ content: "Hello." });

  test("has a marked question before a reply that would be the first", () => {
    expect(contents(sent({}, greeting))).toEqual([
      ["user", "(no text)"],
      ["assistant", "Hello."],
    ]);
    expect(contents(sent({}, from("system", "s"), greeting))).toEqual([
      ["system", "s"],
      ["user", "(no text)"],
      ["assistant", "Hello."],
    ]);
    expect(contents(sent({ firstReply: "taken" }, greeting))).toEqual([["assistant", "Hello."]]);
    expect(contents(sent({}, user("?"), greeting))).toHaveLength(2);
  });

  test("has a marked question between two replies, where they may not follow each other", () => {
    const more = reply({ content: "And more." }, "1.2");
    const replied = (differences: Partial<Dialect>, next: Message): readonly unknown[] =>
      sent(differences, user("?"), greeting, next).map(({ role }) => role);
    const marked = ["user", "assistant", "user", "assistant"];
    expect(replied({}, more)).toEqual(["user", "assistant", "assistant"]);
    expect(replied({ replyAfterReply: "marked" }, more)).toEqual(marked);
    expect(replied({ replyAfterReply: "without calls" }, more)).toEqual(["user", "assistant", "assistant"]);
    expect(replied({ replyAfterReply: "without calls" }, asking)).toEqual(marked);
    expect(sent({ replyAfterReply: "marked" }, user("?"), greeting, asking)[3]).toEqual({
      role: "assistant",
      ...called,
    });
  });

  test("has a mark before a question that may not follow a result or a question", () => {
    const messages = [user("?"), asking, result("there"), user("so?", "2"), user("well?", "3")];
    const after = (noUserAfter: Dialect["noUserAfter"]): readonly unknown[] =>
      contents(sent({ noUserAfter }, ...messages)).slice(2);
    expect(after([])).toEqual([
      ["tool", "there"],
      ["user", "so?"],
      ["user", "well?"],
    ]);
    expect(after(["tool"])).toEqual([
      ["tool", "there"],
      ["assistant", "OK."],
      ["user", "so?"],
      ["user", "well?"],
    ]);
    expect(after(["user"])).toEqual([
      ["tool", "there"],
      ["user", "so?"],
      ["assistant", "(no answer)"],
      ["user", "well?"],
    ]);
  });
});

describe("a result", () => {
  const results = (
    differences: Partial<Dialect>,
    content: Parameters<typeof messageFromResult>[2],
  ): readonly unknown[] => sent(differences, user("?"), asking, result(content)).slice(2);
  const tool = (content: unknown): JsonObject => ({ role: "tool", tool_call_id: "a", content }) as JsonObject;
  const following = (...parts: readonly object[]): object => ({
    role: "user",
    content: [text("From the result of look (a):"), ...parts],
  });

  test.each<readonly [string, Partial<Dialect>, Parameters<typeof messageFromResult>[2], readonly object[]]>([
    ["is marked if it has no text", {}, " ", [tool("(no output)")]],
    ["stays blank where that is taken", { blank: "sent" }, "", [tool("")]],
    ["has its images where they are taken", { images: "everywhere" }, [text("a"), image], [tool([text("a"), shown])]],
    [
      "has its images in a user's message behind it",
      {},
      [text("a"), image, image],
      [tool("a"), following(shown, shown)],
    ],
    [
      "says where its images are if it has nothing else",
      {},
      [image],
      [tool("See the next message of the user."), following(shown)],
    ],
    [
      "names its images where none is taken",
      { images: "none" },
      [image],
      [tool("(a file that can't be shown to this model)")],
    ],
    ["has its data as a text", {}, [text("a"), rows], [tool("a\nrows: [1]")]],
  ])("%s", (_, differences, content, expected) => {
    expect(results(differences, content)).toEqual(expected);
  });

  test("shows the images of a round together, before what follows", () => {
    const round = reply({
      toolCalls: ["a", "b"].map((id) => ({ id, name: "look", arguments: "{}" })),
    });
    const all = toolCallsOf(round).map((each) => messageFromResult(each, "completed", [image]));
    const roles = sent({}, user("?"), round, ...all, reply({ content: "So." }, "1.2")).map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "tool", "tool", "user", "assistant"]);
  });
});

describe("a reply", () => {
  const replied = (differences: Partial<Dialect>, draft: ReplyDraft): readonly unknown[] =>
    sent(differences, user("?"), reply(draft)).slice(1);
  const thought = { type: "reasoning", text: "Hm.", provider: { fields: ["reasoning_content", "reasoning"] } } as const;
  const blocks = [{ type: "thinking" }];
  const details = [{ type: "reasoning.text", text: "Hm." }];
  const refusal = { type: "refusal", text: "No." } as const;

  test.each<readonly [string, Partial<Dialect>, ReplyDraft, readonly object[]]>([
    ["that says nothing is left out", {}, { content: " " }, []],
    ["of reasoning alone is left out", { blank: "sent" }, { content: [thought] }, []],
    ["without anything stays where that is taken", { blank: "sent" }, {}, [{ role: "assistant", content: "" }]],
    [
      "has its texts as one, as they are",
      {},
      { content: [text("a"), text("b")] },
      [{ role: "assistant", content: "ab" }],
    ],
    ["has its refusal as a text", {}, { content: [refusal] }, [{ role: "assistant", content: "No." }]],
    [
      "has its refusal in a field",
      { refusals: "field" },
      { content: [refusal] },
      [{ role: "assistant", content: "", refusal: "No." }],
    ],
    ...(
      [
        { type: "refusal", refusal: "No." },
        { type: "thinking", thinking: "No." },
      ] as const
    ).map((part): readonly [string, Partial<Dialect>, ReplyDraft, readonly object[]] => [
      `has its texts as a list beside a part of the type ${part.type}`,
      { refusals: "field", fields: ["part"] },
      {
        content: [
          text("a"),
          text("b"),
          { type: part.type === "refusal" ? "refusal" : "reasoning", text: "No.", provider: { part } },
        ],
      },
      [{ role: "assistant", content: [text("a"), text("b"), part] }],
    ]),
    [
      "names its images, unless they are taken everywhere",
      {},
      { content: [text("a"), image] },
      [{ role: "assistant", content: "a(a file that can't be shown to this model)" }],
    ],
    [
      "has no field that is not taken",
      {},
      { content: "a", provider: { thinking_blocks: blocks } },
      [{ role: "assistant", content: "a" }],
    ],
    [
      "has the fields that are taken, also of its reasoning",
      { fields: ["thinking_blocks", "reasoning"] },
      {
        content: [thought, text("a")],
        toolCalls: [{ id: "a", name: "look", arguments: "{}" }],
        provider: { thinking_blocks: blocks, reasoning_details: details },
      },
      [{ role: "assistant", ...called, content: "a", thinking_blocks: blocks, reasoning: "Hm." }],
    ],
    [
      "has no field of another server, and all of its own",
      { fields: ["thinking_blocks"] },
      { content: "a", provider: { thinking_blocks: blocks, reasoning_details: details, origin: "there m" } },
      [{ role: "assistant", content: "a" }],
    ],
    [
      "has all fields of its own server",
      { fields: ["thinking_blocks"] },
      { content: "a", provider: { thinking_blocks: blocks, reasoning_details: details, origin: "here m" } },
      [{ role: "assistant", content: "a", thinking_blocks: blocks, reasoning_details: details }],
    ],
    [
      "has only the known fields of its own server where that takes no others",
      { fields: ["thinking_blocks"], ownFields: false },
      { content: "a", provider: { thinking_blocks: blocks, reasoning_details: details, origin: "here m" } },
      [{ role: "assistant", content: "a", thinking_blocks: blocks }],
    ],
  ])("%s", (_, differences, draft, expected) => {
    expect(replied(differences, draft)).toEqual(expected);
  });

  const argumentsOf = (given: string, provider?: JsonObject): unknown =>
    sent(
      {},
      user("?"),
      reply({ toolCalls: [{ id: "a", name: "f", arguments: given, ...(provider && { provider }) }] }),
    )[1]?.["tool_calls"];
  const calling = (given: string): unknown => [
    { id: "a", type: "function", function: { name: "f", arguments: given } },
  ];

  test("has arguments that are an object, as the model wrote them, and a custom call as a function's", () => {
    expect(argumentsOf('{ "a": 1.0 }')).toEqual(calling('{ "a": 1.0 }'));
    for (const given of ["", "[1]", '"a"', "null", '{"a":']) expect(argumentsOf(given)).toEqual(calling("{}"));
    expect(argumentsOf('{"a":"\ud83d"}')).toEqual(calling('{"a":"\ufffd"}'));
    expect(argumentsOf("any text", { type: "custom" })).toEqual(calling('{"input":"any text"}'));
  });

  test("gets the fields that its first call owes, unless that or the message has them", () => {
    const owedOfCall = { extra_content: { google: { thought_signature: "skip" } } };
    const callsOf = (draft: ReplyDraft): unknown =>
      sent({ owedOfCall, fields: "all" }, user("?"), reply(draft))[1]?.["tool_calls"];
    const one = { id: "a", name: "f", arguments: "{}" };
    const two = { id: "b", name: "f", arguments: "{}" };
    const signed = { ...one, provider: { extra_content: { google: { thought_signature: "S" } } } };
    expect(callsOf({ toolCalls: [one, two] })).toMatchObject([owedOfCall, {}]);
    expect(JSON.stringify(callsOf({ toolCalls: [one, two] })).split("skip")).toHaveLength(2);
    expect(JSON.stringify(callsOf({ toolCalls: [signed] }))).toContain('"S"');
    const sealed = (data: unknown): ReplyDraft => ({
      toolCalls: [one],
      // Cast: a server may send any.
      provider: { reasoning_details: [{ type: "reasoning.encrypted", data }] } as JsonObject,
    });
    expect(JSON.stringify(callsOf(sealed("SEALED")))).not.toContain("skip");
    expect(JSON.stringify(callsOf(sealed("")))).toContain("skip");
  });
});
