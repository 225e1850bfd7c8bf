import type { AskPart } from "@colloquy/host";
import { notApproved } from "@colloquy/machine/hosting";
import { describe, expect, test } from "vitest";
import { MessageWriter } from "../../src/ui/message-writer.ts";
import {
  at,
  started,
  step,
  says,
  thinks,
  refuses,
  writes,
  calls,
  awaits,
  asks,
  ends,
  replays,
  lost,
  signal,
  short,
  shown,
  id,
  begun,
  whole,
  text,
} from "./parts-of-asks.ts";

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
