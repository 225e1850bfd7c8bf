import type { ToolCallDraft, SeedDraft, SeedResult } from "@colloquy/machine";
import type { Irregularity, Piece } from "./piece.ts";

/**
 * Pieces in which each reply with calls is followed at once by its results, in call order, and the repairs that this
 * took.
 */
export interface Paired {
  readonly pieces: readonly Piece[];
  /** In order of their items; empty if calls and results were valid. */
  readonly irregularities: readonly Irregularity[];
}

/** The text for the model in place of a missing result. */
const missingResult = "No result: the call was interrupted.";

/**
 * Pairs each result with the newest earlier call that has its id and no result yet, because later calls reuse ids. It
 * repairs and reports the rest. A late result is moved to its call. A result without a call, or a second one, is left
 * out. A call without a result gets one that says so.
 */
export const pairResults = (pieces: readonly Piece[]): Paired => {
  const irregularities: Irregularity[] = [];
  const askedLast = lastAskedFor(pieces);
  const waiting = new Map<string | null, Call[]>();
  const answered = new Set<string | null>();
  const rounds = new Map<Piece, readonly Call[]>();
  let latest: Piece | null = null;
  for (const piece of pieces) {
    const { draft } = piece;
    if (draft.role !== "tool") {
      const calls = callsOf(draft).map((call): Call => ({ call, of: piece, result: null }));
      rounds.set(piece, calls);
      irregularities.push(...ambiguous(piece, calls));
      for (const call of calls) listUnder(waiting, call.call.id).push(call);
      latest = piece;
      continue;
    }
    const call = takeNewest(waiting.get(draft.toolCallId));
    if (call === undefined) {
      irregularities.push(answered.has(draft.toolCallId) ? second(piece, draft) : orphan(piece, draft, askedLast));
      continue;
    }
    call.result = piece;
    answered.add(draft.toolCallId);
    if (latest !== null && call.of !== latest) irregularities.push(late(piece, draft, call, latest));
  }
  const whole = [...rounds].flatMap(([piece, calls]) => [
    piece,
    ...calls.map((call) => call.result ?? synthesised(call)),
  ]);
  for (const calls of rounds.values()) irregularities.push(...calls.flatMap((call) => missing(call)));
  return { pieces: whole, irregularities };
};

interface Call {
  readonly call: ToolCallDraft;
  readonly of: Piece;
  result: Piece | null;
}

const callsOf = (draft: SeedDraft): readonly ToolCallDraft[] => ("toolCalls" in draft ? (draft.toolCalls ?? []) : []);

/** Returns the last item with a call of each id. */
const lastAskedFor = (pieces: readonly Piece[]): ReadonlyMap<string | null, number> =>
  new Map(pieces.flatMap(({ index, draft }) => callsOf(draft).map(({ id }) => [id, index] as const)));

const listUnder = (lists: Map<string | null, Call[]>, id: string | null): Call[] => {
  const list = lists.get(id) ?? [];
  lists.set(id, list);
  return list;
};

/** Removes and returns the first waiting call of the newest round, among those with an id. */
const takeNewest = (calls: Call[] | undefined): Call | undefined => {
  const newest = calls?.at(-1);
  if (calls === undefined || newest === undefined) return undefined;
  let index = calls.length - 1;
  while (calls[index - 1]?.of === newest.of) index--;
  return calls.splice(index, 1)[0];
};

const synthesised = ({ call, of }: Call): Piece => ({
  index: of.index,
  draft: { role: "tool", toolCallId: call.id, content: missingResult },
});

const ambiguous = (piece: Piece, calls: readonly Call[]): readonly Irregularity[] => {
  const ids = calls.map(({ call }) => call.id);
  const repeated = ids.filter((id, index) => id !== null && id !== "" && ids.indexOf(id) !== index);
  return [...new Set(repeated)].map((id) => ({
    index: piece.index,
    reason: `several calls of item ${piece.index} have the id ${quoted(id)}, so that their results can't be kept apart: give each an id of its own${orRepair}`,
    repair: {
      index: piece.index,
      path: "",
      what: `several calls have the id ${quoted(id)}`,
      why: "their results were taken in the order of the calls",
    },
  }));
};

const missing = ({ call, of, result }: Call): readonly Irregularity[] =>
  result !== null
    ? []
    : [
        {
          index: of.index,
          reason: `call ${quoted(call.id)} of ${quoted(call.name)} in item ${of.index} has no result: give one directly behind it, before anything else is said${orRepair}`,
          repair: {
            index: of.index,
            path: "",
            what: `no result for call ${quoted(call.id)} of ${quoted(call.name)}`,
            why: "one was put in its place that says so",
          },
        },
      ];

const late = (piece: Piece, { toolCallId }: SeedResult, { of }: Call, latest: Piece): Irregularity => ({
  index: piece.index,
  reason: `the result of call ${quoted(toolCallId)} in item ${piece.index} comes behind item ${latest.index}: move it directly behind item ${of.index}, which asked${orRepair}`,
  repair: {
    index: piece.index,
    path: "",
    what: `the place of the result of call ${quoted(toolCallId)}`,
    why: `it was moved to its call in item ${of.index}`,
  },
});

const second = ({ index }: Piece, { toolCallId }: SeedResult): Irregularity => ({
  index,
  reason: `item ${index} is a second result of call ${quoted(toolCallId)}: keep one of them${orRepair}`,
  repair: { index, path: "", what: `a second result of call ${quoted(toolCallId)}`, why: "the first one was kept" },
});

const orphan = (
  { index }: Piece,
  { toolCallId }: SeedResult,
  askedLast: ReadonlyMap<string | null, number>,
): Irregularity => {
  const asked = askedLast.get(toolCallId);
  const reason =
    asked === undefined || asked < index
      ? `item ${index} is the result of call ${quoted(toolCallId)}, which no item before it asks for: leave it out, or give the call as well`
      : `item ${index} is the result of call ${quoted(toolCallId)}, which only item ${asked} asks for: move it behind that one`;
  return {
    index,
    reason: `${reason}${orRepair}`,
    repair: { index, path: "", what: `the result of call ${quoted(toolCallId)}`, why: "no item before it asks for it" },
  };
};

/** Ends the error text of a repairable problem. */
export const orRepair = "; or import with { repair: true }";

const quoted = (text: string | null): string => JSON.stringify(text);
