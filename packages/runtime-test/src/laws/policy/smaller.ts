import type { Json, JsonObject } from "@colloquy/machine";
import type { Move, Schedule } from "../../arbitraries/schedule.ts";

/** How many shorter conversations are tried at most, by default: what is found within them is short enough to be read. */
export const mostTries = 400;

/**
 * A shorter schedule that is still wrong in the same way: with the fewest moves that could be found, said as plainly
 * as will do. A schedule is read against the state that is reached, so it stays meaningful with any of its moves gone.
 *
 * @param isWrong whether a shorter one is still wrong. Asked `most` times at most.
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

/** Leaves out halves, then quarters, and so on down to single moves, from the end on: what comes after the fault does nothing. */
const withFewerMoves = (best: () => Schedule, accepts: Accepts): void => {
  for (let size = best().moves.length; size >= 1; size = Math.floor(size / 2)) {
    for (let end = best().moves.length; end > 0; end -= size) {
      const { moves } = best();
      accepts({ ...best(), moves: [...moves.slice(0, Math.max(0, end - size)), ...moves.slice(end)] });
    }
  }
};

/** Says the thread's beginning and each move with less. What is plainer may be made plainer still. */
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

/** Members that any move may do without. */
const optional = ["usage", "model", "name", "metadata", "limits", "overlap", "joins", "partial", "reason", "by"];

/** The move said in other words, each plainer than what it says. */
const plainerMoves = (move: Move): readonly Move[] => {
  const plainer: JsonObject[] = [];
  // A move is plain data, whatever it says; what is made of it below has the same form.
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
    // A call is plainer than most replies, and no plainer than a word.
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

/** The same, each time without one of these members, which it may do without. */
const without = <Value extends object>(value: Value, names: readonly string[]): readonly Value[] =>
  names
    .filter((name) => Object.hasOwn(value, name))
    // Those that are named are optional.
    .map((name) => Object.fromEntries(Object.entries(value).filter(([each]) => each !== name)) as Value);

const remark = { role: "user", content: "S" } as const;

const word = { content: "A" };

/** The same value with its longest text half as long; undefined where all are short. */
const halved = (value: Json): Json | undefined => {
  const longest = longestIn(value);
  if (longest.length < 16) return undefined;
  return withText(value, longest, longest.slice(0, Math.ceil(longest.length / 2)));
};

const longestIn = (value: Json | undefined): string => {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const texts = membersOf(value).map(longestIn);
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "");
};

const withText = (value: Json, text: string, shorter: string): Json => {
  if (value === text) return shorter;
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((each) => withText(each, text, shorter));
  const members = Object.entries(value).map(([name, each]) => [name, withText(each ?? null, text, shorter)] as const);
  return Object.fromEntries(members);
};

const membersOf = (value: JsonObject | readonly Json[]): readonly (Json | undefined)[] =>
  isList(value) ? value : Object.values(value);

/** The guard of JavaScript knows no lists that are read-only. */
const isList = (value: JsonObject | readonly Json[]): value is readonly Json[] => Array.isArray(value);
