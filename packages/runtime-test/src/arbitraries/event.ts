import type { Event, EventType } from "@colloquy/machine";
import fc from "fast-check";
import {
  callerToolsArbitrary,
  appendedResultArbitrary,
  brokenSeedArbitrary,
  contentArbitrary,
  contentPartArbitrary,
  messageDraftArbitrary,
  partialArbitrary,
  replyArbitrary,
  roundReplyArbitrary,
  systemDraftArbitrary,
  expectedOutputArbitrary,
  failureArbitrary,
  issuesArbitrary,
  limitsArbitrary,
  overlapTypes,
  reportedUsageArbitrary,
  toolOutcomeArbitrary,
} from "./message.ts";
import { jsonArbitrary, jsonObjectArbitrary, nameArbitrary, recordOf, textArbitrary } from "./values.ts";

/**
 * Returns an arbitrary of decodable events, expected or not. Its ids are sometimes among `effectIds` and `askIds`, so
 * that some events match by accident.
 */
export const eventArbitrary = (among: {
  readonly effectIds?: readonly string[];
  readonly askIds?: readonly string[];
}): fc.Arbitrary<Event> => {
  const effectId = oneOf(among.effectIds ?? []);
  const members = { ...outcomes(effectId), ...edits, ...others(effectId, oneOf(among.askIds ?? [])) };
  return fc.oneof(
    ...Object.entries<Members<object>>(members).map(
      ([type, [needed, more]]) =>
        // The members are those of the type, as the type of `MembersOf` says.
        recordOf(
          { type: fc.constant(type), at: atArbitrary, ...needed },
          more,
        ) as fc.Arbitrary<unknown> as fc.Arbitrary<Event>,
    ),
  );
};

/** Arbitraries of the members of events, by type: those that all have, and those that some have. */
type MembersOf<Types extends EventType> = {
  readonly [Type in Types]: Members<Omit<Extract<Event, { readonly type: Type }>, "type" | "at">>;
};

type Members<Body> = readonly [
  needed: { readonly [Name in keyof Body as undefined extends Body[Name] ? never : Name]: fc.Arbitrary<Body[Name]> },
  more?: {
    readonly [Name in keyof Body as undefined extends Body[Name] ? Name : never]?: fc.Arbitrary<
      Exclude<Body[Name], undefined>
    >;
  },
];

/** The time of an event: mostly a plausible one, sometimes one that makes no sense. */
const atArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_900_000 }) },
  fc.constantFrom(0, -1, 0.5, Number.MAX_SAFE_INTEGER),
);

/** Returns an arbitrary of ids: one of the known ids, or another one. */
const oneOf = (known: readonly string[]): fc.Arbitrary<string> => {
  const strange = nameArbitrary.filter((name) => name !== "");
  return known.length === 0 ? strange : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, strange);
};

const [metadata, usage, partial] = [jsonObjectArbitrary, reportedUsageArbitrary, partialArbitrary];
const calledTools: readonly string[] = ["search", "weather"];

type Outcome = Extract<EventType, `${"llm" | "output" | "tool"}.${string}` | "approval.answered">;

const outcomes = (effectId: fc.Arbitrary<string>): MembersOf<Outcome> => {
  const model = fc.constantFrom("model-1", "other");
  const promptDigest = nameArbitrary;
  return {
    "llm.completed": [
      { effectId, reply: replyArbitrary(calledTools), finishReason: fc.option(nameArbitrary) },
      { usage, promptDigest, model, responseId: nameArbitrary },
    ],
    "llm.failed": [
      { effectId, failure: failureArbitrary },
      { partial, usage, promptDigest, model },
    ],
    "llm.progressed": [{ effectId, partial }, { again: fc.constant(true) }],
    "output.accepted": [{ effectId, value: jsonArbitrary }],
    "output.refused": [{ effectId, issues: issuesArbitrary }, { checkFailed: fc.constant(true) }],
    "tool.started": [{ effectId }],
    "tool.withheld": [
      { effectId, because: fc.constantFrom("declared", "unknown_outcome"), arguments: jsonArbitrary },
      { version: fc.constantFrom("1", "2.0.1") },
    ],
    "approval.answered": [
      { effectId, approved: fc.boolean() },
      { digest: nameArbitrary, reason: textArbitrary, by: nameArbitrary },
    ],
    "tool.completed": [{ effectId, content: fc.option(contentArbitrary) }],
    "tool.failed": [{ effectId, outcome: toolOutcomeArbitrary, content: contentArbitrary }],
  };
};

type Other = "ask.received" | "timer.fired" | "cancel.requested" | "message.appended" | "system.changed";

type Edit = Exclude<EventType, Outcome | Other | "thread.configured">;

const turn = fc.nat({ max: 4 });

/** Edits of the thread; most of them name something that may exist. */
const edits: MembersOf<Edit> = {
  "round.appended": [
    { reply: roundReplyArbitrary(calledTools), results: fc.array(appendedResultArbitrary, { maxLength: 3 }) },
    { metadata },
  ],
  "turn.added": [{ messages: brokenSeedArbitrary(calledTools) }, { metadata }],
  "turn.annotated": [
    {
      turn,
      name: nameArbitrary,
      value: fc.oneof(textArbitrary, fc.integer(), fc.boolean(), fc.constant(null), jsonObjectArbitrary),
    },
    { metadata },
  ],
  "answer.truncated": [{ turn, characters: fc.nat({ max: 12 }) }],
  "head.moved": [{ to: fc.oneof(turn, recordOf({ checkpoint: nameArbitrary })) }],
  "message.pinned": [
    {
      message: fc.tuple(turn, fc.nat({ max: 3 })).map(([number, place]) => `${number}.${place}`),
      pinned: fc.boolean(),
    },
  ],
  "checkpoint.named": [{ name: nameArbitrary }],
  "system.reset": [{}],
  "metadata.changed": [{ metadata }],
  "thread.forked": [{ from: recordOf({ threadId: nameArbitrary, turn }) }],
  "thread.redacted": [{ seqs: fc.array(fc.nat({ max: 9 }), { maxLength: 3 }) }, { reason: textArbitrary }],
};

const others = (
  effectId: fc.Arbitrary<string>,
  askId: fc.Arbitrary<string>,
): MembersOf<Exclude<EventType, Outcome | Edit>> => {
  const model = jsonObjectArbitrary;
  const input = fc.oneof(
    textArbitrary,
    fc.array(contentPartArbitrary, { maxLength: 2 }),
    fc.array(messageDraftArbitrary, { maxLength: 3 }),
  );
  const configuration = recordOf(
    { fingerprint: nameArbitrary },
    {
      model,
      idleTimeoutMs: fc.integer({ min: 1, max: 60_000 }),
      summariser: recordOf({ instruction: textArbitrary }, { model }),
    },
  );
  return {
    "ask.received": [
      { askId, input },
      {
        name: nameArbitrary,
        metadata,
        model,
        limits: limitsArbitrary,
        tools: callerToolsArbitrary,
        overlap: fc.constantFrom(...overlapTypes),
        joins: recordOf({}, { askId }),
        from: fc.oneof(fc.nat({ max: 4 }), recordOf({ checkpoint: nameArbitrary })),
        output: expectedOutputArbitrary,
      },
    ],
    "timer.fired": [{ effectId }],
    "cancel.requested": [{}, { askId, reason: textArbitrary, partial, usage }],
    "message.appended": [{ message: messageDraftArbitrary }],
    "system.changed": [{ system: fc.option(systemDraftArbitrary) }],
    "thread.configured": [{ configuration }, { model }],
  };
};
