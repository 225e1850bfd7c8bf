import type { SeedDraft, ToolCallDraft } from "@colloquy/machine";
import { type Irregularity, irregularity, type Piece, type Reading } from "./reading.ts";

/** The text for the model in place of a missing result. */
const missingResult = "No result: the call was interrupted.";

/**
 * Returns pieces in which each reply with calls is followed at once by its results, in call order, and the repairs that
 * this took. Pairs each result with the newest earlier call that has its id and no result yet, because later calls
 * reuse ids. A late result is moved to its call. A result without a call, or a second one, is left out. A call without
 * a result gets one that says so.
 */
export const pairResults = (pieces: readonly Piece[]): Omit<Reading, "losses"> => {
  const irregularities: Irregularity[] = [];
  const askedLast = new Map(pieces.flatMap(({ index, draft }) => callsOf(draft).map(({ id }) => [id, index] as const)));
  const waiting = new Map<string | null, Call[]>();
  const answered = new Set<string | null>();
  const rounds = new Map<Piece, readonly Call[]>();
  let latest: Piece | null = null;
  for (const piece of pieces) {
    const { draft, index } = piece;
    if (draft.role !== "tool") {
      const calls = callsOf(draft).map((call): Call => ({ call, of: piece, result: null }));
      rounds.set(piece, calls);
      irregularities.push(...ambiguous(index, calls));
      for (const call of calls) listUnder(waiting, call.call.id).push(call);
      latest = piece;
      continue;
    }
    const id = draft.toolCallId;
    const call = takeNewest(waiting.get(id));
    if (call === undefined) {
      irregularities.push(answered.has(id) ? second(index, quoted(id)) : orphan(index, quoted(id), askedLast.get(id)));
      continue;
    }
    call.result = piece;
    answered.add(id);
    if (latest !== null && call.of !== latest) irregularities.push(late(index, quoted(id), call, latest));
  }
  const whole = [...rounds].flatMap(([piece, calls]) => [
    piece,
    ...calls.map((call) => call.result ?? placeholder(call)),
  ]);
  const unanswered = [...rounds.values()].flat().filter(({ result }) => result === null);
  return { pieces: whole, irregularities: [...irregularities, ...unanswered.map(missing)] };
};

interface Call {
  readonly call: ToolCallDraft;
  readonly of: Piece;
  result: Piece | null;
}

const callsOf = (draft: SeedDraft): readonly ToolCallDraft[] => ("toolCalls" in draft ? (draft.toolCalls ?? []) : []);

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

const placeholder = ({ call, of }: Call): Piece => ({
  index: of.index,
  draft: { role: "tool", toolCallId: call.id, content: missingResult },
});

const ambiguous = (index: number, calls: readonly Call[]): readonly Irregularity[] => {
  const ids = calls.map(({ call }) => call.id);
  const repeated = ids.filter((id, place) => id !== null && id !== "" && ids.indexOf(id) !== place);
  return [...new Set(repeated)].map((id) =>
    irregularity(
      index,
      `several calls of item ${index} have the id ${quoted(id)}, so that their results can't be kept apart: give each an id of its own`,
      `several calls have the id ${quoted(id)}`,
      "their results were taken in the order of the calls",
    ),
  );
};

const missing = ({ call, of }: Call): Irregularity => {
  const which = `call ${quoted(call.id)} of ${quoted(call.name)}`;
  return irregularity(
    of.index,
    `${which} in item ${of.index} has no result: give one directly behind it, before anything else is said`,
    `no result for ${which}`,
    "one was put in its place that says so",
  );
};

const late = (index: number, id: string, { of }: Call, latest: Piece): Irregularity =>
  irregularity(
    index,
    `the result of call ${id} in item ${index} comes behind item ${latest.index}: move it directly behind item ${of.index}, which asked`,
    `the place of the result of call ${id}`,
    `it was moved to its call in item ${of.index}`,
  );

const second = (index: number, id: string): Irregularity =>
  irregularity(
    index,
    `item ${index} is a second result of call ${id}: keep one of them`,
    `a second result of call ${id}`,
    "the first one was kept",
  );

/** @param asked the last item with a call of this id. */
const orphan = (index: number, id: string, asked: number | undefined): Irregularity =>
  irregularity(
    index,
    asked === undefined || asked < index
      ? `item ${index} is the result of call ${id}, which no item before it asks for: leave it out, or give the call as well`
      : `item ${index} is the result of call ${id}, which only item ${asked} asks for: move it behind that one`,
    `the result of call ${id}`,
    "no item before it asks for it",
  );

const quoted = (text: string | null): string => JSON.stringify(text);
