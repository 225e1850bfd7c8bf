import { describe, expect, test } from "vitest";
import { keymapOf, keymaps } from "../../../src/terminal/input/keymap.ts";
import { type InputHistory, historyOf, remembered, stepped } from "../../../src/terminal/input/history.ts";
import {
  type HistorySearch,
  layOutSearch,
  pressInSearch,
  searchOf,
  type SearchStep,
} from "../../../src/terminal/conversation/typed-input.ts";
import { type Editor, editorOf } from "../../../src/terminal/input/editor.ts";
import { after, textOf, withCursor } from "./editing.ts";
import { keysOf } from "./keys.ts";

const inputs = ["first", "second\nof two lines", "third"];

describe("the history", () => {
  /** `u` steps back, `d` forth; other characters are typed. */
  const walk = (script: string, from: Editor): string => {
    let [history, editor]: [InputHistory, Editor] = [historyOf(inputs), from];
    for (const each of script) {
      const step = each === "u" || each === "d" ? stepped(history, editor, each === "u" ? -1 : 1) : null;
      if (each !== "u" && each !== "d") editor = after(each, editor);
      else if (step !== null) ({ history, editor } = step);
    }
    return withCursor(editor);
  };

  test.each([
    ["u", "third|"],
    ["uu", "second\nof two lines|"],
    ["uuuuu", "first|"],
    ["d", "dra|ft"],
    ["uuudddddd", "dra|ft"],
    // Changes to an earlier input are kept for the next visit.
    ["u!uud", "second\nof two lines|"],
    ["u!uudd", "third!|"],
    ["u!dxu", "third!|"],
    ["u!dxud", "drax|ft"],
  ])("%s shows %j", (script, shown) => expect(walk(script, after("draft<left><left>"))).toBe(shown));

  test("remembers each sent input once", () => {
    const { inputs: kept } = ["a", "a", "  ", "b", "a"].reduce(remembered, historyOf([]));
    expect(kept).toEqual(["a", "b", "a"]);
    const step = stepped(historyOf(inputs), editorOf("draft"), -1);
    expect(step === null ? null : remembered(step.history, "third")).toEqual(historyOf(inputs));
  });
});

describe("the search through it", () => {
  const press = (sent: string, keymap = keymaps.standard): SearchStep => {
    let step: SearchStep = { type: "search", search: searchOf(inputs) };
    for (const key of keysOf(...Array.from(sent))) {
      if (step.type !== "search") throw new Error(`${JSON.stringify(key)} comes after the end`);
      step = pressInSearch(step.search, key, key.type === "key" ? keymapOf("standard", keymap)[key.name] : undefined);
    }
    return step;
  };
  const shown = (sent: string, columns = 40): readonly string[] => {
    const step = press(sent);
    const search: HistorySearch = step.type === "search" ? step.search : searchOf([]);
    return textOf(layOutSearch(search, { columns, rows: 24 }));
  };

  test.each([
    ["", ["search: ", ""]],
    ["ir", ["search: ir", "third"]],
    ["ir\x12", ["search: ir", "first"]],
    ["ir\x12\x12", ["search: ir", "first"]],
    ["ir\x12s", ["search: irs", "first"]],
    ["O L", ["search: O L", "second of two lines"]],
    ["ix", ["search: ix", ""]],
    ["ix\x7f", ["search: i", "third"]],
    ["third\x15", ["search: ", ""]],
  ])("%j shows %j", (sent, rows) => expect(shown(sent)).toEqual(rows));

  test("marks what matches, on one row", () => {
    const found = (sent: string, columns: number) => {
      const step = press(sent);
      return step.type === "search" ? layOutSearch(step.search, { columns, rows: 24 }).lines.at(-1) : null;
    };
    expect(found("COND", 40)).toEqual([
      { text: "se", roles: ["dim"] },
      { text: "cond", roles: ["match"] },
      { text: " of two lines", roles: ["dim"] },
    ]);
    expect(found("cond", 16)?.map(({ text }) => text)).toEqual(["se", "cond", " of two …"]);
    expect(found("lines", 16)).toEqual([{ text: "second of two …", roles: ["dim"] }]);
  });

  test.each<[string, SearchStep]>([
    ["\x12", { type: "reset" }],
    ["ir\r", { type: "take", text: "third" }],
    ["ir\x12\r", { type: "take", text: "first" }],
    ["nd\t", { type: "take", text: "second\nof two lines" }],
    ["ir\x1b[C", { type: "take", text: "third" }],
    ["xyz\r", { type: "close" }],
    ["\r", { type: "close" }],
    ["ir\x1b", { type: "close" }],
    ["ir\x03", { type: "close" }],
  ])("%j ends it with %j", (sent, step) => expect(press(sent)).toEqual(step));

  test("goes by the keymap, in which Escape may quit", () => {
    expect(press("ir\x1b", keymaps.seed)).toEqual({ type: "close" });
    const own = keymapOf("seed", { "alt+r": "searchHistory" });
    expect(pressInSearch(searchOf(inputs), { type: "key", name: "alt+r" }, own["alt+r"])).toEqual({
      type: "search",
      search: searchOf(inputs),
    });
  });
});
