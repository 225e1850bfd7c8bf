import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import type { Action } from "../../../src/terminal/input/keymap.ts";
import { type Editor, editorOf, emptyEditor, pasted, typed, expanded } from "../../../src/terminal/input/editor.ts";
import { after, type Step, stepTaken, withCursor } from "./editing.ts";

describe("pastes", () => {
  const long = "a".repeat(5000);
  const lines = "line\n".repeat(11);

  test("of 1,000 characters and 10 lines are shown, longer ones are marks, and both are sent whole", () => {
    const short = `${"a".repeat(989)}${"\na".repeat(9)}`.slice(0, 1000);
    expect(pasted(emptyEditor, short).text).toBe(short);
    expect(pasted(emptyEditor, "a".repeat(1001)).text).toBe("[paste #1: 1,001 characters]");
    expect(pasted(emptyEditor, "\n".repeat(9)).text).toBe("\n".repeat(9));
    expect(pasted(emptyEditor, "\n".repeat(10)).text).toBe("[paste #1: 10 characters]");
    const editor = typed(pasted(typed(pasted(typed(emptyEditor, "see "), long), " and "), lines), "?");
    expect(withCursor(editor)).toBe("see [paste #1: 5,000 characters] and [paste #2: 55 characters]?|");
    expect(expanded(editor)).toBe(`see ${long} and ${lines}?`);
  });

  test("come back with what was cleared, and no two have one number", () => {
    const editor = after("<clearInput>", pasted(typed(emptyEditor, "see "), long));
    const again = after("<yank>", pasted(editor, lines));
    expect(again.text).toBe("[paste #2: 55 characters]see [paste #1: 5,000 characters]");
    expect(expanded(again)).toBe(`${lines}see ${long}`);
  });
});

test("a text from elsewhere is edited without its control characters", () => {
  expect(withCursor(editorOf("a\r\nb\u001B[31m\tc\u0085"))).toBe("a\nb[31m\tc|");
});

/** A naive editor to compare with: an array of characters, rebuilt after each change. Private characters are pastes. */
class Naive {
  #units: readonly string[] = [];
  #cursor = 0;
  #killed = "";
  readonly pastes: string[] = [];

  take(step: Step): void {
    if ("text" in step) this.#replace(this.#cursor, this.#cursor, step.text);
    else if ("paste" in step) {
      this.pastes.push(step.paste);
      this.#replace(this.#cursor, this.#cursor, String.fromCodePoint(firstMark + this.pastes.length - 1));
    } else this.#act(step.action);
  }

  get text(): string {
    return this.#units.map((unit) => this.pastes[(unit.codePointAt(0) ?? 0) - firstMark] ?? unit).join("");
  }

  /** The text left of the cursor. */
  get left(): string {
    return this.#units
      .slice(0, this.#cursor)
      .map((unit) => (isMark(unit) ? "\uFFFC" : unit))
      .join("");
  }

  #act(action: Action): void {
    const [cursor, end] = [this.#cursor, this.#units.length];
    const lineStart = this.#units.lastIndexOf("\n", cursor - 1) + 1;
    const lineEnd = [...this.#units, "\n"].indexOf("\n", cursor);
    const moves: Partial<Record<Action, number>> = {
      left: Math.max(cursor - 1, 0),
      right: Math.min(cursor + 1, end),
      lineStart: cursor === 0 ? 0 : lineStart,
      lineEnd,
      inputStart: 0,
      inputEnd: end,
      wordLeft: this.#word(-1),
      wordRight: this.#word(1),
    };
    const to = moves[action];
    if (to !== undefined) this.#cursor = to;
    else if (action === "newline") this.#replace(cursor, cursor, "\n");
    else if (action === "deleteBackward") this.#replace(Math.max(cursor - 1, 0), cursor, "");
    else if (action === "deleteForward" || action === "deleteForwardOrQuit")
      this.#replace(cursor, Math.min(cursor + 1, end), "");
    else if (action === "yank") this.#replace(cursor, cursor, this.#killed);
    else if (action === "killToLineStart") this.#kill(cursor === 0 ? 0 : lineStart, cursor);
    else if (action === "killToLineEnd") this.#kill(cursor, lineEnd);
    else if (action === "deleteWordBackward") this.#kill(this.#word(-1), cursor);
    else if (action === "deleteWordForward") this.#kill(cursor, this.#word(1));
    else if (action === "clearInput") this.#kill(0, end);
  }

  /** Moves over characters outside words, then over a word. A mark is a word. */
  #word(by: -1 | 1): number {
    let at = this.#cursor;
    const next = (): string => this.#units[by < 0 ? at - 1 : at] ?? "";
    if (isMark(next())) return at + by;
    while (next() !== "" && !isMark(next()) && !/^\p{L}/u.test(next())) at += by;
    while (/^\p{L}/u.test(next())) at += by;
    return at;
  }

  #kill(from: number, to: number): void {
    if (from === to) return;
    this.#killed = this.#units.slice(from, to).join("");
    this.#replace(from, to, "");
  }

  #replace(from: number, to: number, text: string): void {
    const left = this.#units.slice(0, from).join("") + text;
    this.#units = unitsOf(left + this.#units.slice(to).join(""));
    let length = 0;
    this.#cursor = 0;
    while (length < left.length) {
      length += this.#units[this.#cursor]?.length ?? 0;
      this.#cursor += 1;
    }
  }
}

// Private characters, which never combine with others.
const firstMark = 0x10_00_00;
const isMark = (unit: string): boolean => (unit.codePointAt(0) ?? 0) >= firstMark;

const unitsOf = (text: string): readonly string[] =>
  text
    .split(/([\u{100000}-\u{10FFFD}])/u)
    .flatMap((piece) => Array.from(new Intl.Segmenter("en").segment(piece), ({ segment }) => segment));

const actions: readonly Action[] = [
  ...(["left", "right", "lineStart", "lineEnd", "inputStart", "inputEnd", "wordLeft", "wordRight", "newline"] as const),
  ...(["deleteBackward", "deleteForward", "deleteForwardOrQuit", "deleteWordBackward", "deleteWordForward"] as const),
  ...(["yank", "killToLineStart", "killToLineEnd", "clearInput"] as const),
];

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...actions).map((action): Step => ({ action })) },
    {
      weight: 4,
      arbitrary: fc
        .string({
          unit: fc.constantFrom("a", "b", " ", "-", "\n", "\u0301", "👍", "🏽", "\u200D", "🇩", "🇪"),
          maxLength: 4,
        })
        .map((text): Step => ({ text })),
    },
    { weight: 1, arbitrary: fc.constantFrom("x".repeat(1001), "\n".repeat(12)).map((paste): Step => ({ paste })) },
  ),
  { maxLength: 40 },
);

const leftOf = ({ text, marks, cursor }: Editor): string =>
  expanded({
    text: text.slice(0, cursor),
    marks: marks.filter(({ end }) => end <= cursor).map((mark) => ({ ...mark, pasted: "\uFFFC" })),
  });

test("the editor is an array of characters, whatever is done with it", () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const naive = new Naive();
      let editor = emptyEditor;
      for (const step of taken) {
        naive.take(step);
        editor = stepTaken(editor, step);
        expect([expanded(editor), leftOf(editor)]).toEqual([naive.text, naive.left]);
      }
    }),
    { numRuns: runs(2000) },
  );
});
