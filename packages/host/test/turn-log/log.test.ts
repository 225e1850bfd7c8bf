import type { AskPart } from "@colloquy/host";
import { LeaseLostError, type PartBatch } from "@colloquy/host/store";
import { expect, test } from "vitest";
import { partsMax, TurnLog, TurnLogs } from "../../src/turn-log/log.ts";
import { partOf, partsIn, PartSink, StoredParts } from "../../src/turn-log/sink.ts";
import { manualClock } from "../stage.ts";

const text = (more: object = {}): AskPart => ({ type: "text.delta", turn: 1, step: 1, attempt: 1, text: "a", ...more });
const written = (position: number): AskPart => ({
  type: "toolCall.delta",
  turn: 1,
  step: 1,
  attempt: 1,
  position,
  callId: "1.1.0",
  name: "echo",
  providerCallId: "1",
  arguments: "{",
});

test.each<[what: string, first: AskPart, next: AskPart, parts: number]>([
  ["the same text", text(), text(), 1],
  ["the same call", written(0), written(0), 1],
  ["another attempt", text(), text({ attempt: 2 }), 2],
  ["another step", text(), text({ step: 2 }), 2],
  ["another kind of text", text(), text({ type: "reasoning.delta" }), 2],
  ["another call", written(0), written(1), 2],
])("a log joins deltas only if they continue one another: %s", (_, first, next, parts) => {
  const log = new TurnLog(1);
  log.append(1, first);
  log.append(1, next);
  expect(log.parts).toHaveLength(parts);
});

test("a log keeps all parts up to a maximum, and then drops half of them at once", () => {
  const log = new TurnLog(1);
  for (let step = 1; step <= partsMax; step++) log.append(1, text({ step }));
  expect([log.first, log.end]).toEqual([0, partsMax]);
  log.append(1, text({ step: partsMax + 1 }));
  expect([log.first, log.end, log.parts.length]).toEqual([partsMax / 2, partsMax + 1, partsMax / 2 + 1]);
  expect([log.at(partsMax / 2 - 1), log.at(partsMax)?.part]).toEqual([undefined, text({ step: partsMax + 1 })]);
});

type Shown = readonly [part: AskPart, epoch: number, index: number, offset?: number];

/** Appends parts that other hosts showed. Returns texts, counts of dropped parts, and the types of other parts. */
const shownElsewhere = (...shown: readonly Shown[]): readonly unknown[] => {
  const log = new TurnLog(1);
  for (const [part, epoch, index, offset = 0] of shown) log.appendShown({ part, place: { epoch, index, offset } });
  return log.parts.map((part) => {
    if ("text" in part) return part.text;
    return part.type === "parts.dropped" ? part.count : part.type;
  });
};
const saying = (words: string, step = 1): AskPart => text({ text: words, step });
const started: AskPart = { type: "turn.started", turn: 1, askIds: ["a"] };
const ended: AskPart = { type: "turn.ended", turn: 1, status: "completed" };

test.each<readonly [string, readonly Shown[], readonly unknown[]]>([
  [
    "parts in order",
    [
      [started, 1, 0],
      [saying("a"), 1, 1],
    ],
    ["turn.started", "a"],
  ],
  [
    "the start of the turn from two hosts",
    [
      [started, 1, 0],
      [started, 2, 0],
      [saying("a"), 2, 1],
    ],
    ["turn.started", "a"],
  ],
  [
    "a text that overlaps the last one",
    [
      [saying("ab"), 1, 0],
      [saying("bcd"), 1, 0, 1],
    ],
    ["abcd"],
  ],
  [
    "a repeated text",
    [
      [saying("ab"), 1, 0],
      [saying("ab"), 1, 0],
      [saying("b"), 1, 0, 1],
    ],
    ["ab"],
  ],
  [
    "a text whose middle is missing",
    [
      [saying("ab"), 1, 0],
      [saying("d"), 1, 0, 3],
    ],
    ["ab"],
  ],
  [
    "an older part of the same host",
    [
      [saying("a"), 1, 0],
      [saying("b"), 1, 1],
      [saying("c"), 1, 0, 1],
    ],
    ["a", "b"],
  ],
  [
    "a part of an earlier host",
    [
      [saying("b"), 2, 0],
      [saying("a"), 1, 5],
    ],
    ["b"],
  ],
  [
    "a part of a later host, after missing parts",
    [
      [saying("a"), 1, 7],
      [saying("b"), 2, 0],
    ],
    [7, "a", "b"],
  ],
  [
    "missing parts",
    [
      [saying("a"), 1, 0],
      [saying("b", 2), 1, 4],
    ],
    ["a", 3, "b"],
  ],
  [
    "one missing part",
    [
      [saying("a"), 1, 0],
      [saying("b", 2), 1, 2],
    ],
    ["a", 1, "b"],
  ],
  [
    "a part after the end of the turn",
    [
      [ended, 1, 0],
      [saying("a"), 1, 1],
    ],
    ["turn.ended"],
  ],
])("a log merges parts that other hosts showed: %s", (_, shown, parts) => {
  expect(shownElsewhere(...shown)).toEqual(parts);
});

test("a log tracks the started and ended steps of its turn, and the positions of its parts", () => {
  const log = new TurnLog(1);
  expect([log.hasStartedStep(1), log.hasShown(1), log.positionOf(1, 0), log.askIds]).toEqual([
    false,
    false,
    null,
    null,
  ]);
  log.append(1, started);
  log.append(1, { type: "step.started", turn: 1, step: 1 });
  expect([log.hasStartedStep(1), log.hasEndedStep(1), log.hasShown(1), log.askIds]).toEqual([true, false, true, ["a"]]);
  log.append(1, { type: "step.ended", turn: 1, step: 1 });
  log.append(1, { type: "step.started", turn: 1, step: 2 });
  expect([log.hasEndedStep(1), log.hasEndedStep(2), log.hasShown(1), log.hasShown(2)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  log.append(2, { type: "thread.lost", turn: 1 });
  expect([log.hasStartedStep(1), log.hasStartedStep(2), log.hasShown(2)]).toEqual([true, false, false]);
  expect([log.positionOf(1, 1), log.positionOf(1, 9), log.positionOf(2, 0), log.positionOf(3, 0)]).toEqual([
    1,
    3,
    4,
    null,
  ]);
  expect([log.has(started), log.has({ ...started, askIds: ["b"] })]).toEqual([true, false]);
  log.append(2, ended);
  log.append(2, saying("late"));
  log.appendOfJournal(1, saying("late"));
  expect([log.hasEnded, log.end]).toEqual([true, 6]);
});

test.each<readonly [AskPart, number]>([
  [saying("abc"), 3],
  [written(0), 1],
  [{ type: "step.started", turn: 1, step: 1 }, 0],
  [{ type: "toolCall", turn: 1, step: 1, position: 0, callId: "c", name: "f", arguments: "{}" }, 2],
  ...(
    [
      ["four", 4],
      [null, 0],
      [
        [
          { type: "text", text: "ab" },
          { type: "image", url: "u" },
        ],
        1_002,
      ],
    ] as const
  ).map(
    ([content, size]) =>
      [
        { type: "toolResult", turn: 1, step: 1, position: 0, callId: "c", name: "f", outcome: "completed", content },
        size,
      ] as const,
  ),
])("a log counts 100 characters for each part, and those of its content: %j", (part, size) => {
  const log = new TurnLog(1);
  log.append(1, part);
  expect(log.characters).toBe(100 + size);
});

test("a log keeps only the newest partial output, beside the text that it is parsed from", () => {
  const partial = (value: string): AskPart => ({ type: "output.partial", turn: 1, step: 1, attempt: 1, value });
  const log = new TurnLog(1);
  log.append(1, partial("of nothing"));
  log.append(1, text());
  for (const value of ["a", "b"]) log.append(1, partial(value));
  expect([log.end, log.at(0)?.partial]).toEqual([1, partial("b")]);
});

test("TurnLogs drops logs at rest after a time, above a maximum number, and when their thread is forgotten", async () => {
  const clock = manualClock();
  const logs = new TurnLogs(clock, 1_000);
  for (let turn = 1; turn <= 257; turn++) logs.rest("t", logs.open("t", turn));
  expect([logs.of("t", 1), logs.of("t", 2)?.turn]).toEqual([undefined, 2]);
  // A log that is opened again is not at rest.
  logs.open("t", 2);
  await clock.advance(1_000);
  expect([logs.of("t", 2)?.turn, logs.of("t", 3)]).toEqual([2, undefined]);
  logs.forget("t");
  expect(logs.of("t", 2)).toBeUndefined();
  const log = logs.open("t", 1);
  log.append(1, started);
  expect([logs.forgetEarlier("t", 1, ["b", "a"]), logs.of("t", 1)]).toEqual([false, log]);
  expect([logs.forgetEarlier("t", 1, ["b"]), logs.of("t", 1)]).toEqual([true, undefined]);
  expect(logs.forgetEarlier("t", 1, ["b"])).toBe(false);
});

test("TurnLogs drops the oldest logs at rest when their total text exceeds a maximum", () => {
  const logs = new TurnLogs(manualClock(), 1_000);
  for (const turn of [1, 2, 3]) {
    const log = logs.open("t", turn);
    log.append(1, text({ turn, text: "x".repeat(2 ** 21 - 100) }));
    logs.rest("t", log);
    logs.rest("t", log);
  }
  expect([1, 2, 3].map((turn) => logs.of("t", turn)?.turn)).toEqual([undefined, 2, 3]);
});

test("TurnLogs counts the text of a log once, however often the log is opened again", () => {
  const logs = new TurnLogs(manualClock(), 1_000);
  for (let times = 0; times < 3; times++) {
    const log = logs.open("t", 1);
    if (log.end === 0) log.append(1, text({ text: "x".repeat(2 ** 21 - 100) }));
    logs.rest("t", log);
  }
  expect(logs.of("t", 1)?.end).toBe(1);
});

test("parts that were read from the store are dropped some time after their last reader", async () => {
  const clock = manualClock();
  const logs = new TurnLogs(clock, 1_000);
  const batch = { token: 1, number: 0, turn: 1, at: 0, until: Infinity, body: JSON.stringify([[0, 0, text()]]) };
  const log = { append: async () => {}, read: async () => [batch] };
  const stored = new StoredParts("t", { log, clock, everyMs: 1, keepMs: 1_000, report: () => {} }, logs);
  await stored.read();
  await clock.advance(2_000);
  expect(logs.of("t", 1)?.parts).toEqual([text()]);
  stored.end();
  await clock.advance(1_000);
  expect(logs.of("t", 1)).toBeUndefined();
});

test("the host reports only the first of consecutive failed reads of the store's log", async () => {
  const clock = manualClock();
  const reported: string[] = [];
  let answers: readonly (Error | readonly [])[] = [];
  const log = {
    append: async () => {},
    read: async () => {
      const [next, ...others] = answers;
      answers = others;
      if (next instanceof Error) throw next;
      return next ?? [];
    },
  };
  const logging = { log, clock, everyMs: 1, keepMs: 1_000, report: (thrown: unknown) => reported.push(String(thrown)) };
  const stored = new StoredParts("t", logging, new TurnLogs(clock, 1_000));
  answers = [new Error("one"), new Error("two"), [], new Error("three")];
  for (let reads = 0; reads < 4; reads++) await stored.read();
  expect(reported).toEqual(["Error: one", "Error: three"]);
});

test("partsIn reads the parts of a batch, skips parts of unknown types, and rejects a malformed batch", () => {
  const place = { epoch: 7, index: 0, offset: 2 };
  expect(
    partsIn(
      JSON.stringify([
        [0, 2, text()],
        [1, 0, { type: "part.to.come" }],
      ]),
      7,
    ),
  ).toEqual([{ part: text(), place }]);
  for (const body of ["{", "{}", "[1]", "[[0,0]]", "[[-1,0,{}]]", "[[0,0.5,{}]]", "[[0,0,null]]", '[[0,0,{"type":1}]]'])
    expect(() => partsIn(body, 7)).toThrow(/JSON|it /);
  expect(() => partsIn('[[0,0,{"type":"text.delta","text":1}]]', 7)).toThrow("it has an item that is not a part");
  expect(() => partsIn('[[0,0,{"type":"toolCall.delta","name":"f"}]]', 7)).toThrow("it has an item that is not a part");
  expect(partsIn(JSON.stringify([[0, 0, written(0)]]), 7)).toHaveLength(1);
  expect([partOf(text()), partOf({ type: "part.to.come" }), partOf(7)]).toEqual([text(), null, null]);
  // Each object has a member of this name.
  expect([partOf({ type: "toString" }), partsIn('[[0,0,{"type":"toString"}]]', 7)]).toEqual([null, []]);
});

/** Makes a sink whose store records batches, and throws the failure that is given for the number of a batch. */
const sinkWith = (failures: Readonly<Record<number, Error>> = {}) => {
  const clock = manualClock();
  const begun = clock.now();
  const batches: unknown[] = [];
  const reported: string[] = [];
  const append = async (_: unknown, { number, turn, body, at, until }: PartBatch): Promise<void> => {
    const failure = failures[number];
    if (failure !== undefined) throw failure;
    batches.push([
      number,
      turn,
      at - begun,
      until - at,
      ...partsIn(body, 7).map(({ part }) => ("text" in part ? part.text : part.type)),
    ]);
  };
  const log = { append, read: async () => [] };
  const report = (thrown: unknown): void => void reported.push(String(thrown));
  const sink = new PartSink({ log, clock, everyMs: 10, keepMs: 1_000, report }, lease);
  /** Appends parts to a log, and notifies the sink. */
  const show = (of: TurnLog, ...parts: readonly AskPart[]): void => {
    for (const part of parts) {
      of.append(7, part);
      sink.added(of);
    }
  };
  return { clock, batches, reported, sink, show };
};
const lease = { threadId: "t", token: 7, owner: "me" };

test("the sink writes the parts of a turn in batches at intervals, and the rest when it ends", async () => {
  const { clock, batches, sink, show } = sinkWith();
  const log = new TurnLog(1);
  show(log, started, saying("a"), saying("b"));
  expect(batches).toEqual([]);
  await clock.advance(10);
  await clock.advance(10);
  expect(batches).toEqual([[0, 1, 10, 1_000, "turn.started", "ab"]]);
  show(log, saying("c"));
  await clock.advance(9);
  expect(batches).toHaveLength(1);
  await clock.advance(1);
  show(log, saying("d"));
  await sink.end();
  show(log, saying("e"));
  await clock.advance(10);
  expect(batches.slice(1)).toEqual([
    [1, 1, 30, 1_000, "c"],
    [2, 1, 30, 1_000, "d"],
  ]);
  expect(clock.sleepers).toBe(0);
});

test("the sink skips a turn that ends before its first batch is due, and writes any other turn to its end", async () => {
  const { clock, batches, show } = sinkWith();
  show(new TurnLog(1), started, ended);
  await clock.advance(10);
  expect([batches, clock.sleepers]).toEqual([[], 0]);
  const second = new TurnLog(2);
  show(second, { ...started, turn: 2 }, text({ turn: 2 }));
  // Another turn starts before the batch is due.
  const third = new TurnLog(3);
  show(third, { ...started, turn: 3 });
  await clock.advance(10);
  show(third, { ...ended, turn: 3 });
  await clock.advance(0);
  expect(batches).toEqual([
    [0, 2, 10, 1_000, "turn.started", "a"],
    [1, 3, 20, 1_000, "turn.started"],
    [2, 3, 20, 1_000, "turn.ended"],
  ]);
});

test("the sink reports and skips a batch that the store fails to write, and stops after it lost the lease", async () => {
  const { clock, batches, reported, show } = sinkWith({ 0: new Error("full"), 2: new LeaseLostError(lease) });
  const log = new TurnLog(1);
  for (const words of ["a", "b", "c", "d"]) {
    show(log, saying(words));
    await clock.advance(10);
  }
  expect([batches, reported]).toEqual([[[1, 1, 20, 1_000, "b"]], ["Error: full"]]);
});
