import type { AskPart } from "@colloquy/host";
import type { Message, ToolOutcome } from "@colloquy/machine";
import { notApproved } from "@colloquy/machine/hosting";
import { describe, expect, test } from "vitest";
import type { UiMessageChunk } from "../../src/ui/chunk.ts";
import { MessageWriter } from "../../src/ui/message-writer.ts";

const at = { turn: 1, step: 1, attempt: 1 };
const started: AskPart = { type: "turn.started", turn: 1, askIds: ["a"] };
const step = (number: number): AskPart => ({ type: "step.started", turn: 1, step: number });
const says = (text: string, more: object = {}): AskPart => ({ type: "text.delta", ...at, text, ...more });
const thinks = (text: string): AskPart => ({ type: "reasoning.delta", ...at, text });
const refuses = (text: string): AskPart => ({ type: "refusal.delta", ...at, text });
const place = (position: number) => ({ turn: 1, step: 1, position, callId: `1.1.${position}`, name: "look" });
const writes = (written: string, more: object = {}): AskPart => {
  return { type: "toolCall.delta", ...place(0), attempt: 1, providerCallId: null, arguments: written, ...more };
};
const calls = (position = 0, more: object = {}): AskPart => {
  return { type: "toolCall", ...place(position), arguments: "{}", ...more };
};
const awaits = (position = 0): AskPart => ({ type: "result.requested", ...place(position), arguments: "{}" });
const asks = (position = 0): AskPart => {
  const request = { callId: `1.1.${position}`, name: "look", arguments: {}, digest: "signed" };
  // Cast: only these members of a request are read.
  return { type: "approval.requested", turn: 1, step: 1, request } as unknown as AskPart;
};
const ends = (outcome: ToolOutcome, content: string | null, position = 0): AskPart => {
  return { type: "toolResult", ...place(position), outcome, content };
};
const replays = (number: number): AskPart => ({ type: "replay.started", turn: 1, step: number, synthesised: false });
const lost: AskPart = { type: "thread.lost", turn: 1 };
// Cast: only its type is read.
const signal = (type: string): AskPart => ({ type: "signal", signal: { type } }) as AskPart;

/** Writes a chunk in short: its type and the values of its members. */
const short = ({ type, ...members }: UiMessageChunk): string =>
  [type, ...Object.values(members).map((value) => (typeof value === "string" ? value : JSON.stringify(value)))].join(
    " ",
  );

const shown = (parts: readonly AskPart[], { behind = 0, page = [] as readonly string[] } = {}): readonly string[] => {
  const writer = new MessageWriter(behind, new Set(page));
  return [started, step(1), ...parts].flatMap((part) => writer.take(part).map(short)).slice(1);
};

const id = "1.1.0";
const begun = [`start-step`, `tool-input-start ${id} look`];
const whole = ["start-step", `tool-input-available ${id} look {}`];
const text = (words: string, number = "1.0"): readonly string[] => [
  `text-start ${number}`,
  `text-delta ${number} ${words}`,
];

describe("a page is shown", () => {
  test.each<readonly [string, readonly AskPart[], readonly string[]]>([
    [
      "texts of several kinds, each as its own",
      [says("a"), says(""), says("b"), thinks("c"), refuses("d"), step(2), says("e", { step: 2 })],
      [
        "start-step",
        ...text("a"),
        "text-delta 1.0 b",
        "text-end 1.0",
        "reasoning-start 1.1",
        "reasoning-delta 1.1 c",
        "reasoning-end 1.1",
        'text-start 1.2 {"colloquy":{"refusal":true}}',
        "text-delta 1.2 d",
        "text-end 1.2",
        "finish-step",
        "start-step",
        ...text("e", "2.0"),
      ],
    ],
    ["nothing of an empty text", [says("")], []],
    [
      "one step if its start comes twice",
      [says("a"), step(1), says("b")],
      ["start-step", ...text("a"), "text-delta 1.0 b"],
    ],
    ["one step for a step that shows nothing", [step(2), says("a", { step: 2 })], ["start-step", ...text("a")]],
    [
      "the text of a later attempt alone",
      [says("a"), says("b", { attempt: 2 }), says("c", { attempt: 2 })],
      ["start-step", ...text("a"), "reset-step", ...text("b"), "text-delta 1.0 c"],
    ],
    ["a later attempt at once if the first shows nothing", [says("a", { attempt: 2 })], ["start-step", ...text("a")]],
    [
      "the first attempt of the next step",
      [says("a", { attempt: 2 }), step(2), says("b", { step: 2 })],
      ["start-step", ...text("a"), "text-end 1.0", "finish-step", "start-step", ...text("b", "2.0")],
    ],
    [
      "its text whatever the attempt of a partial output",
      [says("a"), { type: "output.partial", ...at, attempt: 2, value: 1 } as unknown as AskPart, says("b")],
      ["start-step", ...text("a"), "text-delta 1.0 b"],
    ],
    ...[lost, signal("retry.scheduled"), signal("output.refused"), replays(1)].map(
      (part) =>
        [
          `the step from its start after ${part.type}`,
          [says("a"), part, says("b")],
          ["start-step", ...text("a"), "reset-step", ...text("b")],
        ] as const,
    ),
    [
      "the step so far after another signal",
      [says("a"), signal("context.warning"), says("b")],
      ["start-step", ...text("a"), "text-delta 1.0 b"],
    ],
    [
      "the step so far after a replay from a later one",
      [says("a"), replays(2), says("b")],
      ["start-step", ...text("a"), "text-delta 1.0 b"],
    ],
    [
      "no step again that it was shown whole before a replay",
      [says("a"), step(2), says("b", { step: 2 }), replays(1), step(1), says("a"), step(2), says("c", { step: 2 })],
      [
        "start-step",
        ...text("a"),
        "text-end 1.0",
        "finish-step",
        "start-step",
        ...text("b", "2.0"),
        "reset-step",
        ...text("c", "2.0"),
      ],
    ],
    [
      "the arguments of a call as they are written, once its name is known",
      [
        writes('{"', { name: "" }),
        writes('a"'),
        writes(""),
        writes(":1}"),
        calls(0, { arguments: '{"a":1}' }),
        calls(),
      ],
      [
        ...begun,
        `tool-input-delta ${id} {"a"`,
        `tool-input-delta ${id} :1}`,
        `tool-input-available ${id} look {"a":1}`,
      ],
    ],
    [
      "a call of a later attempt",
      [writes("{"), writes("[", { attempt: 2 })],
      [...begun, `tool-input-delta ${id} {`, "reset-step", `tool-input-start ${id} look`, `tool-input-delta ${id} [`],
    ],
    [
      "a text before its call",
      [says("a"), calls()],
      ["start-step", ...text("a"), "text-end 1.0", `tool-input-available ${id} look {}`],
    ],
    [
      "a text that follows its call, before it",
      [says("a"), writes("{}"), says("b"), calls()],
      [
        "start-step",
        ...text("a"),
        "text-end 1.0",
        `tool-input-start ${id} look`,
        `tool-input-delta ${id} {}`,
        ...text("b", "1.1"),
        "reset-step",
        ...text("ab"),
        "text-end 1.0",
        `tool-input-available ${id} look {}`,
      ],
    ],
    [
      "a request for approval once for a call, and again if it is repeated",
      [calls(), asks(), asks()],
      [...whole, `tool-approval-request ${id} ${id} signed`, `tool-approval-request ${id} ${id} signed`],
    ],
    ["a call with the request for its approval", [asks()], [...whole, `tool-approval-request ${id} ${id} signed`]],
    [
      "a result",
      [calls(), ends("completed", "4"), ends("completed", "5")],
      [...whole, `tool-output-available ${id} 4`],
    ],
    ["no result of a call that was not shown", [ends("completed", "4")], []],
    ["a failure", [calls(), ends("failed", "no")], [...whole, `tool-output-error ${id} no`]],
    ["a refusal", [calls(), ends("refused", "no")], [...whole, `tool-output-error ${id} no`]],
    [
      "the text before a result to its end",
      [calls(), says("a"), ends("completed", null)],
      [...whole, ...text("a"), "text-end 1.0", `tool-output-available ${id} null`],
    ],
    [
      "an approval before its result",
      [asks(), ends("completed", "4")],
      [
        ...whole,
        `tool-approval-request ${id} ${id} signed`,
        `tool-approval-response ${id} true`,
        `tool-output-available ${id} 4`,
      ],
    ],
    [
      "no approval of a call that was interrupted",
      [asks(), ends("interrupted", "stopped")],
      [...whole, `tool-approval-request ${id} ${id} signed`, `tool-output-error ${id} stopped`],
    ],
    [
      "a denial with its reason",
      [asks(), ends("refused", `${notApproved}: too dear`)],
      [
        ...whole,
        `tool-approval-request ${id} ${id} signed`,
        `tool-approval-response ${id} false too dear`,
        `tool-output-denied ${id}`,
      ],
    ],
    [
      "a denial whose request it was not shown",
      [calls(), ends("refused", notApproved)],
      [...whole, `tool-approval-request ${id} ${id}`, `tool-approval-response ${id} false`, `tool-output-denied ${id}`],
    ],
  ])("%s", (_, parts, expected) => {
    expect(shown(parts)).toEqual(expected);
  });

  test.each<readonly [string, readonly AskPart[], readonly string[]]>([
    ["no call before it is to run it", [calls()], ["start-step"]],
    ["a call that it is to run", [calls(), awaits()], whole],
    [
      "a call that was answered elsewhere",
      [calls(), ends("completed", "4")],
      [...whole, `tool-output-available ${id} 4`],
    ],
    [
      "a refused call as one not to run",
      [calls(), ends("refused", "no")],
      ["start-step", `tool-input-error ${id} look {} no`],
    ],
    [
      "a call that it was to run, and failed",
      [calls(), awaits(), ends("failed", "no")],
      [...whole, `tool-output-error ${id} no`],
    ],
    [
      "a refused call after the text that followed it",
      [writes("{}"), says("a"), calls()],
      [...begun, `tool-input-delta ${id} {}`, ...text("a"), "reset-step", ...text("a"), "text-end 1.0"],
    ],
  ])("of its own tools %s", (_, parts, expected) => {
    expect(shown(parts, { page: ["look"] })).toEqual(expected);
  });

  test.each<readonly [number, readonly AskPart[], readonly string[]]>([
    [1, [says("a"), step(2), says("b", { step: 2 })], ["start-step", ...text("b", "2.0")]],
    [1, [calls(), ends("completed", "4")], [`tool-output-available ${id} 4`]],
    [2, [calls(), ends("completed", "4")], []],
    [1, [asks()], []],
    [1, [asks(), asks()], [`tool-approval-request ${id} ${id} signed`]],
    [1, [asks(), ends("refused", notApproved)], [`tool-approval-response ${id} false`, `tool-output-denied ${id}`]],
  ])("only what it lacks if it has the message up to step %i, case %#", (behind, parts, expected) => {
    const writer = new MessageWriter(behind, new Set());
    expect([started, step(1), ...parts].flatMap((part) => writer.take(part).map(short)).slice(1)).toEqual(expected);
  });
});

test("a page is waited for while all calls without a result need its answer", () => {
  const writer = new MessageWriter(0, new Set());
  const waits = [
    started,
    step(1),
    calls(0),
    calls(1),
    awaits(0),
    asks(1),
    ends("completed", null),
    ends("refused", "", 1),
  ];
  expect(waits.map((part) => (writer.take(part), writer.waitsAt))).toEqual([
    null,
    null,
    null,
    null,
    null,
    { turn: 1, step: 1 },
    { turn: 1, step: 1 },
    null,
  ]);
});

describe("the end of a turn", () => {
  const message = (number: number, said: string, ...positions: readonly number[]) => {
    const call = (position: number) => ({
      type: "toolCall",
      callId: `1.${number}.${position}`,
      name: "look",
      arguments: "{}",
    });
    const parts = [...(said === "" ? [] : [{ type: "text", text: said }]), ...positions.map(call)];
    return { id: `m${number}`, role: "assistant", parts };
  };
  const result = {
    id: "r",
    role: "tool",
    parts: [
      { type: "toolResult", callId: id, name: "look", outcome: "completed", content: [{ type: "text", text: "4" }] },
    ],
  };
  const finish = ['message-metadata {"turn":1,"status":"completed"}', "abort enough", "finish stop"];
  const two = ["text-end 1.0", "finish-step", "start-step", ...text("b", "2.0"), "text-end 2.0", "finish-step"];

  const ended = (parts: readonly AskPart[], messages: readonly object[], behind = 0): readonly string[] => {
    const writer = new MessageWriter(behind, new Set());
    for (const part of parts) writer.take(part);
    const chunks = writer.end({
      turn: 1,
      status: "completed",
      // Casts: only these members of messages are read, and usage is passed on.
      summary: { messages: messages as readonly Message[], usage: undefined as never },
      chunks: [{ type: "abort", reason: "enough" }],
      finishReason: "stop",
    });
    return chunks.map(short);
  };

  test.each<readonly [string, readonly AskPart[], readonly object[], readonly string[]]>([
    [
      "shows all of a turn of which nothing was shown",
      [],
      [message(1, "a"), message(2, "b")],
      ['start turn-1 {"turn":1}', "start-step", ...text("a"), ...two],
    ],
    [
      "shows nothing more of a turn that was shown",
      [started, step(1), says("a")],
      [message(1, "a")],
      ["text-end 1.0", "finish-step"],
    ],
    [
      "shows a step again that was shown in part",
      [started, step(1), says("a")],
      [message(1, "ab")],
      ["reset-step", ...text("ab"), "text-end 1.0", "finish-step"],
    ],
    ["takes back a step that the turn does not have", [started, step(1), says("a")], [], ["reset-step"]],
    ["shows the steps after the shown ones", [started, step(1), says("a")], [message(1, "a"), message(2, "b")], two],
    [
      "shows the steps after those that were shown to their end",
      [started, step(1), says("a"), step(2)],
      [message(1, "a"), message(2, "b")],
      ["start-step", ...text("b", "2.0"), "text-end 2.0", "finish-step"],
    ],
    [
      "shows the missing result of a shown call",
      [started, step(1), calls()],
      [message(1, "", 0), result],
      [`tool-output-available ${id} 4`, "finish-step"],
    ],
    [
      "shows a step again whose call was only begun",
      [started, step(1), writes("{")],
      [message(1, "", 0)],
      ["reset-step", `tool-input-available ${id} look {}`, "finish-step"],
    ],
    [
      "shows a step again of whose calls one is missing",
      [started, step(1), calls()],
      [message(1, "", 0, 1)],
      ["reset-step", `tool-input-available ${id} look {}`, "tool-input-available 1.1.1 look {}", "finish-step"],
    ],
  ])("%s", (_, parts, messages, expected) => {
    expect(ended(parts, messages)).toEqual([...expected, ...finish]);
  });

  test("shows a page that has its first step only the second", () => {
    expect(ended([], [message(1, "a"), message(2, "b")], 1)).toEqual([
      'start turn-1 {"turn":1}',
      "start-step",
      ...text("b", "2.0"),
      "text-end 2.0",
      "finish-step",
      ...finish,
    ]);
  });

  test("shows an ask that joined it amid a step the steps from the next one on, in a message of its own", () => {
    const writer = new MessageWriter(0, new Set());
    const joined = [signal("ask.joined"), says("a"), calls(), ends("completed", "4"), step(2), says("b", { step: 2 })];
    expect(joined.flatMap((part) => writer.take(part).map(short))).toEqual([
      'start turn-1 {"turn":1}',
      "start-step",
      ...text("b", "2.0"),
    ]);
  });

  test("names the fork in which the turn is", () => {
    const writer = new MessageWriter(0, new Set());
    writer.take({ type: "thread.forked", threadId: "fork", turn: 1 });
    expect(writer.take(started).map(short)).toEqual(['start turn-1 {"turn":1,"threadId":"fork"}']);
    expect(writer.take(started)).toEqual([]);
  });

  test("that waits for answers is the end of the stream, with the results so far", () => {
    const writer = new MessageWriter(0, new Set());
    for (const part of [started, step(1), calls(0), calls(1), awaits(1)]) writer.take(part);
    const result = { type: "toolResult", callId: id, providerCallId: null, name: "look", content: [] } as const;
    expect(writer.endOfLeg([{ ...result, outcome: "completed" }]).map(short)).toEqual([
      `tool-output-available ${id} null`,
      "finish-step",
      "finish tool-calls",
    ]);
  });
});
