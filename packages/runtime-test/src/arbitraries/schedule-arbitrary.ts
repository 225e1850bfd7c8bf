import type { ExpectedOutput, MessageDraft, ThreadInput } from "@colloquy/machine";
import fc from "fast-check";
import { eventArbitrary } from "./event.ts";
import {
  callerToolNames,
  callerToolsArbitrary,
  type ToolNames,
  appendedResultArbitrary,
  brokenSeedArbitrary,
  contentArbitrary,
  messageDraftArbitrary,
  partialArbitrary,
  replyArbitrary,
  roundReplyArbitrary,
  seedArbitrary,
  systemDraftArbitrary,
  expectedOutputArbitrary,
  failureArbitrary,
  limitsArbitrary,
  overlapTypes,
  reportedUsageArbitrary,
  toolOutcomeArbitrary,
} from "./message.ts";
import { type Fields, jsonArbitrary, jsonObjectArbitrary, nameArbitrary, recordOf, textArbitrary } from "./values.ts";
import type { Move, Schedule } from "./schedule.ts";

/**
 * Returns an arbitrary of schedules in which more than half of the moves fit the state.
 *
 * @param options `tools` are the names that replies call.
 */
export const scheduleArbitrary = ({ tools = [] }: { readonly tools?: ToolNames } = {}): fc.Arbitrary<Schedule> => {
  const moves = (move: fc.Arbitrary<Move>): fc.Arbitrary<Move[]> =>
    fc
      .tuple(fc.option(expectedOutputArbitrary, { freq: 2 }), fc.array(move, { maxLength: 30, size: "max" }))
      .map(withOutput);
  return fc.oneof(
    { weight: 7, arbitrary: recordOf({ input: inputArbitrary(tools), moves: moves(moveArbitrary(tools)) }) },
    {
      weight: 1,
      arbitrary: recordOf({ input: fc.constant({ ...beginning, system: "S" }), moves: moves(wordlessMove()) }),
    },
  );
};

const beginning: ThreadInput = { at: 1_700_000_000_000, threadId: "t" };

/** Gives every other conversation an output in most asks. */
const withOutput = ([output, moves]: readonly [ExpectedOutput | null, Move[]]): Move[] =>
  output === null ? moves : moves.map((move) => (move.move === "ask" ? { output, ...move } : move));

const inputArbitrary = (tools: ToolNames): fc.Arbitrary<ThreadInput> =>
  recordOf(
    {
      at: fc.constant(beginning.at),
      threadId: fc.oneof({ weight: 3, arbitrary: fc.constant(beginning.threadId) }, nameArbitrary),
    },
    {
      system: systemDraftArbitrary,
      seed: seedArbitrary(tools),
      metadata: jsonObjectArbitrary,
      model: jsonObjectArbitrary,
    },
  );

const moveArbitrary = (tools: ToolNames): fc.Arbitrary<Move> =>
  fc
    .tuple(
      fc.oneof(
        { weight: 8, arbitrary: fc.nat({ max: 2_000 }) },
        { weight: 2, arbitrary: fc.constantFrom(0, -5_000, 600_000) },
      ),
      fc.oneof(
        { weight: 8, arbitrary: ask },
        { weight: 16, arbitrary: answer([...tools, ...callerToolNames]) },
        { weight: 7, arbitrary: fail },
        { weight: 2, arbitrary: cancel },
        { weight: 2, arbitrary: named("fire", { pick, early: fc.boolean() }) },
        { weight: 5, arbitrary: approve },
        { weight: 1, arbitrary: withhold },
        { weight: 2, arbitrary: named("progress", { partial: partialArbitrary, again: fc.boolean() }) },
        { weight: 1, arbitrary: named("startTool", { pick }) },
        { weight: 8, arbitrary: edit(tools) },
        { weight: 1, arbitrary: named("reconfigure", {}) },
        { weight: 2, arbitrary: named("repeat", { pick }) },
        { weight: 1, arbitrary: named("foreign", { pick }) },
        { weight: 2, arbitrary: named("send", { event: strayEvent }) },
      ),
    )
    .map(([afterMs, move]): Move => ({ afterMs, ...move }));

/**
 * Draws moves that may leave a call nothing to send but the system message. They are changes of the system message, and
 * empty asks that wait, join, fail or are withdrawn.
 */
const wordlessMove = (): fc.Arbitrary<Move> => {
  const silent = fc.constantFrom<readonly MessageDraft[]>([], [], [], [{ role: "user", content: "Q" }]);
  const wordless = fc.constantFrom({}, {}, { content: "" }, { content: "A" });
  const callOrWord = fc.oneof(wordless, fc.constant({ toolCalls: [{ id: null, name: "search", arguments: "{}" }] }));
  const system = fc.constantFrom(null, null, "", "S");
  const overlap = fc.constantFrom(...overlapTypes);
  return fc
    .tuple(
      fc.constantFrom(0, 0, 600_000),
      fc.oneof(
        { weight: 4, arbitrary: named("ask", { input: silent }, { overlap }) },
        { weight: 3, arbitrary: named("changeSystem", { system }) },
        named("resetSystem", {}),
        { weight: 2, arbitrary: cancel },
        {
          weight: 3,
          arbitrary: named("answer", {
            pick,
            reply: callOrWord,
            finishReason: fc.constant("stop"),
            content: fc.constant(""),
          }),
        },
        fail,
        named("fire", { pick, early: fc.constant(false) }),
        named("moveHead", { to: pick }),
        named("redact", { pick }),
        named("append", { message: fc.constant({ role: "user", content: "" } as const) }),
      ),
    )
    .map(([afterMs, move]): Move => ({ afterMs, ...move }));
};

const pick = fc.nat({ max: 7 });
const checkpoint = fc.constantFrom("a", "b", "__proto__", "toString", "");

// Ids of the first turns of thread "t", so that some events match an outstanding effect.
const strayEvent = eventArbitrary({
  effectIds: [
    "t/1.1#1",
    "t/1.1.0#1",
    "t/1.1#2!retry",
    "t/1!deadline",
    "t/2.1#1",
    "t/2.1.0#1",
    "t/5!queue",
    "t/1.1.0!approval-1",
    "t/1.1.0#2",
    "t/summary-1#1",
    "t/1.1!output",
    "t/1.2!output",
  ],
  askIds: ["ask-0", "ask-1", "stray"],
});

/** Half of the asks leave their overlap to the machine. */
const ask = fc.oneof(
  { weight: 5, arbitrary: askOf() },
  { weight: 4, arbitrary: askOf("overlap") },
  { weight: 1, arbitrary: askOf("joins") },
  { weight: 1, arbitrary: askOf("from") },
  { weight: 2, arbitrary: askOf("output") },
  { weight: 2, arbitrary: askOf("tools") },
);

function askOf(...where: readonly ("overlap" | "joins" | "from" | "output" | "tools")[]) {
  const input = fc.oneof(
    { weight: 4, arbitrary: contentArbitrary },
    { weight: 1, arbitrary: fc.array(messageDraftArbitrary, { maxLength: 3 }) },
  );
  const limits = fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, limitsArbitrary);
  const joins = fc.constantFrom("open" as const, "open" as const, "anybody" as const, "nobody" as const);
  return named(
    "ask",
    {
      input,
      ...(where.includes("overlap") ? { overlap: fc.constantFrom(...overlapTypes) } : {}),
      ...(where.includes("joins") ? { joins } : {}),
      ...(where.includes("tools") ? { tools: callerToolsArbitrary } : {}),
      ...(where.includes("from") ? { from: fc.oneof(pick, recordOf({ checkpoint })) } : {}),
      ...(where.includes("output") ? { output: expectedOutputArbitrary } : {}),
    },
    { name: nameArbitrary, metadata: jsonObjectArbitrary, model: jsonObjectArbitrary, limits },
  );
}

const approve = named(
  "approve",
  {
    pick,
    approved: fc.constantFrom(true, true, false),
    digest: fc.constantFrom("right" as const, "none" as const, "wrong" as const),
  },
  { reason: textArbitrary, by: nameArbitrary },
);

const withhold = named(
  "withhold",
  { pick, because: fc.constantFrom("declared" as const, "unknown_outcome" as const), arguments: jsonArbitrary },
  { version: fc.constantFrom("1", "2.0.1") },
);

const model = fc.constantFrom("model-1", "other");

const answer = (tools: ToolNames) =>
  named(
    "answer",
    {
      pick,
      reply: replyArbitrary(tools),
      // Few replies are cut off: their calls never run, so little follows.
      finishReason: fc.constantFrom("stop", "stop", "stop", "length", null, null),
      content: fc.option(contentArbitrary, { freq: 8 }),
    },
    { usage: reportedUsageArbitrary, model },
  );

const fail = named(
  "fail",
  { pick, failure: failureArbitrary, outcome: toolOutcomeArbitrary, content: contentArbitrary },
  { partial: partialArbitrary, usage: reportedUsageArbitrary, model },
);

const cancel = named(
  "cancel",
  {
    whom: fc.constantFrom(...(["open", "queued", "joining", "open", "queued", "nobody"] as const)),
  },
  { reason: textArbitrary, partial: partialArbitrary, usage: reportedUsageArbitrary },
);

const edit = (tools: ToolNames) =>
  fc.oneof(
    { weight: 3, arbitrary: named("append", { message: messageDraftArbitrary }) },
    { weight: 2, arbitrary: round(tools) },
    named("resetSystem", {}),
    named("setMetadata", { metadata: jsonObjectArbitrary }),
    named("fork", { pick }),
    named("redact", { pick }),
    named("changeSystem", { system: fc.option(systemDraftArbitrary) }),
    {
      weight: 2,
      arbitrary: named("addTurn", { messages: fc.oneof(seedArbitrary(tools), brokenSeedArbitrary(tools)) }),
    },
    named("annotate", { pick, name: nameArbitrary, value: fc.oneof(fc.integer(), textArbitrary) }),
    { weight: 2, arbitrary: named("truncate", { pick, characters: fc.nat({ max: 12 }) }) },
    named("checkpoint", { name: checkpoint }),
    { weight: 2, arbitrary: named("pin", { pick, pinned: fc.constantFrom(true, true, true, false) }) },
    { weight: 2, arbitrary: named("moveHead", { to: fc.oneof(pick, recordOf({ checkpoint })) }) },
  );

/** Returns an arbitrary of rounds, most of which have a result for each call. */
const round = (tools: ToolNames) =>
  recordOf({
    reply: roundReplyArbitrary(tools),
    results: fc.array(appendedResultArbitrary, { minLength: 3, maxLength: 3 }),
    missing: fc.constantFrom(0, 0, 0, 0, 0, 1),
  }).map(({ reply, results, missing }) => ({
    move: "appendRound" as const,
    reply,
    results: results.slice(0, (reply.toolCalls?.length ?? 0) - missing),
  }));

export function named<Name extends Move["move"], Required extends object, Optional extends object = object>(
  move: Name,
  required: Fields<Required>,
  optional?: Fields<Optional>,
): fc.Arbitrary<{ readonly move: Name } & Required & Partial<Optional>> {
  return recordOf(required, optional).map((fields) => ({ move, ...fields }));
}
