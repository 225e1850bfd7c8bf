import type { Random } from "../../kit/random.ts";
import type { Cell } from "./places.ts";

export interface Damage {
  readonly words: string;
  readonly kind: Cell["kind"];
}

/** Damages the stored data of one thread. May copy from the other thread's cells, which stay unchanged. */
export const tamper = async (all: readonly Cell[], threadId: string, random: Random): Promise<Damage> => {
  const kinds = [...new Set(all.filter((cell) => cell.threadId === threadId).map(({ kind }) => kind))];
  // The journal matters most.
  const kind = random.percent(35) ? "entry" : one(kinds, random);
  const cells = all.filter((cell) => cell.threadId === threadId && cell.kind === kind);
  const others = all.filter((cell) => cell.threadId !== threadId && cell.kind === kind);
  const cell = one(cells, random);
  const damage = (words: string): Damage => ({ kind, words: `${cell.name} (${kind}) ${words}` });
  const choice = random.integer(1, 100);
  if (choice <= 35) return damage(await putWrong(cell, random));
  if (choice <= 50) {
    await cell.remove();
    return damage("is removed");
  }
  if (choice <= 65) {
    const other = one(cells, random);
    await cell.put(other.text);
    await other.put(cell.text);
    return damage(`is swapped with ${other.name}`);
  }
  if (choice <= 80 && others.length > 0) {
    const other = one(others, random);
    await cell.put(other.text);
    return damage(`is ${other.name} of the other thread`);
  }
  if (choice <= 90 && (kind === "entry" || kind === "chunk")) {
    // The last first, since the positions in a file depend on the cells before.
    for (const each of cells.toReversed()) await each.remove();
    return { kind, words: `each ${kind} is removed` };
  }
  if (choice <= 95 && kind === "head" && others.length > 0) {
    // The whole snapshot of another thread, each part of which is valid.
    for (const other of [...others, ...all.filter((each) => each.threadId !== threadId && each.kind === "chunk")]) {
      const same = all.find((each) => each.threadId === threadId && each.name === other.name);
      await same?.put(other.text);
    }
    return damage("is that of the other thread, with its chunks");
  }
  return damage(await putWrong(cell, random));
};

const putWrong = async (cell: Cell, random: Random): Promise<string> => {
  const { text } = cell;
  const at = random.integer(0, Math.max(text.length - 1, 0));
  const wrong: readonly (readonly [words: string, text: string])[] = [
    [
      "has a wrong character",
      `${text.slice(0, at)}${one(["x", "0", '"', "}", "{", ",", "é", " "], random)}${text.slice(at + 1)}`,
    ],
    ["has a wrong character", `${text.slice(0, at)}${one(["y", "1", "[", "]", ":"], random)}${text.slice(at + 1)}`],
    ["is torn", text.slice(0, at)],
    ["is torn at its beginning", text.slice(at + 1)],
    ["is empty", ""],
    ["has another shape", one(shapes, random)],
    ["has members of other types", text.replace(/"(seq|at|event|type|id|askId|input|turns)":/, '"$1":[null],"was":')],
  ];
  const [words, changed] = one(wrong, random);
  await cell.put(changed);
  return `${words}: ${changed.slice(0, 60)}`;
};

const shapes: readonly string[] = [
  "null",
  "[]",
  "{}",
  "17",
  '"text"',
  '{"seq":0}',
  '{"seq":"1","event":{"type":"none"}}',
  '{"seq":3,"event":null}',
  '{"id":7,"event":7}',
  '{"id":"x","event":{"type":"ask.received"}}',
  '{"__proto__":{"handled":true}}',
];

const one = <A>(all: readonly A[], random: Random): A => {
  const chosen = random.pick(all);
  if (chosen === undefined) throw new Error("there is nothing to choose from");
  return chosen;
};
