import type { Json, JsonObject } from "@colloquy/machine";
import type { Move, Schedule } from "../../arbitraries/schedule.ts";

/** The default limit of tries; it finds conversations that are short enough to read. */
export const mostTries = 400;

/**
 * Returns a smaller schedule that is still wrong in the same way: with as few moves as could be found, and simple ones.
 * Each move is interpreted in the state at that point, so a schedule stays meaningful without any of its moves.
 *
 * @param isWrong returns whether a smaller schedule is still wrong. Called at most `most` times.
 */
export const smallerSchedule = (
  schedule: Schedule,
  isWrong: (smaller: Schedule) => boolean,
  most: number = mostTries,
): Schedule => {
  let best = schedule;
  let tries = 0;
  const accepts = (smaller: Schedule): boolean => {
    if (tries >= most || JSON.stringify(smaller) === JSON.stringify(best)) return false;
    tries += 1;
    if (!isWrong(smaller)) return false;
    best = smaller;
    return true;
  };
  for (let before: Schedule | null = null; before !== best && tries < most;) {
    before = best;
    withFewerMoves(() => best, accepts);
    withPlainer(() => best, accepts);
  }
  return best;
};

type Accepts = (smaller: Schedule) => boolean;

/** Removes halves, then quarters, …, then single moves, from the end on: moves after the fault have no effect. */
const withFewerMoves = (best: () => Schedule, accepts: Accepts): void => {
  for (let size = best().moves.length; size >= 1; size = Math.floor(size / 2)) {
    for (let end = best().moves.length; end > 0; end -= size) {
      const { moves } = best();
      accepts({ ...best(), moves: [...moves.slice(0, Math.max(0, end - size)), ...moves.slice(end)] });
    }
  }
};

const withPlainer = (best: () => Schedule, accepts: Accepts): void => {
  while (plainerInputs(best().input).some((input) => accepts({ ...best(), input })));
  for (let index = 0; index < best().moves.length; index++) {
    for (let changed = true; changed;) {
      const move = best().moves[index];
      changed =
        move !== undefined &&
        plainerMoves(move).some((plainer) => accepts({ ...best(), moves: best().moves.with(index, plainer) }));
    }
  }
};

const plainerInputs = (input: Schedule["input"]): readonly Schedule["input"][] => {
  const { at, seed = [], system } = input;
  return [
    { at, threadId: "t" },
    ...without(input, ["seed", "system", "metadata", "model"]),
    { ...input, threadId: "t" },
    ...seed.map((_, index) => ({ ...input, seed: seed.toSpliced(index, 1) })),
    ...(seed.length === 0 ? [] : [{ ...input, seed: [remark] }]),
    ...seed.map((_, index) => ({ ...input, seed: seed.with(index, remark) })),
    ...(typeof system === "string" ? [{ ...input, system: "S" }] : []),
  ];
};

/** Members that every move may omit. */
const optional = ["usage", "model", "name", "metadata", "limits", "overlap", "joins", "partial", "reason", "by"];

/** Returns variants of a move, each simpler than the move itself. */
const plainerMoves = (move: Move): readonly Move[] => {
  const plainer: JsonObject[] = [];
  // Every move is plain data; the variants below have the same form.
  const said = move as unknown as JsonObject;
  const change = (changes: JsonObject): void => {
    plainer.push({ ...said, ...changes });
  };
  change({ afterMs: 0 });
  plainer.push(...without(said, optional));
  if (move.move === "ask" && move.limits !== undefined)
    for (const limits of without({ ...move.limits }, Object.keys(move.limits))) change({ limits });
  if ("pick" in move) change({ pick: 0 });
  if (move.move === "ask") change({ input: "Q" });
  if (move.move === "answer") {
    // A tool call is simpler than most replies, but not simpler than a one-word reply.
    const isWord = JSON.stringify(move.reply) === JSON.stringify(word);
    change({ reply: word });
    if (!isWord) change({ reply: { toolCalls: [{ id: "c", name: "search", arguments: "{}" }] } });
    change({ finishReason: "stop" });
    change({ content: "R" });
  }
  for (const name of ["input", "reply", "content", "message", "messages", "system"]) {
    const value = said[name];
    const shorter = value === undefined ? undefined : halved(value);
    if (shorter !== undefined) change({ [name]: shorter });
  }
  return plainer as unknown as readonly Move[];
};

/** Returns copies of the value, each without one of these optional members. */
const without = <Value extends object>(value: Value, names: readonly string[]): readonly Value[] =>
  names
    .filter((name) => Object.hasOwn(value, name))
    // All named members are optional.
    .map((name) => Object.fromEntries(Object.entries(value).filter(([each]) => each !== name)) as Value);

const remark = { role: "user", content: "S" } as const;

const word = { content: "A" };

/** Returns the value with its longest text cut in half; undefined if all texts are short. */
const halved = (value: Json): Json | undefined => {
  let longest = "";
  const text = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === "string" && each.length > longest.length) longest = each;
    return each;
  });
  if (longest.length < 16) return undefined;
  const half = longest.slice(0, Math.ceil(longest.length / 2));
  // JSON.parse returns JSON.
  return JSON.parse(text, (_, each: unknown) => (each === longest ? half : each)) as Json;
};
