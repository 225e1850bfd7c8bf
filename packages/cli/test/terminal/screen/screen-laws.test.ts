import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import type { Line, Size } from "../../../src/terminal/index.ts";
import { liveRows } from "../../../src/terminal/screen/ink-screen.ts";
import { InkOutput, type Rows } from "../../../src/terminal/screen/ink.ts";
import { liveRegion } from "../../../src/terminal/screen/live-region.ts";
import { painted, themeNamed } from "../../../src/terminal/text/theme.ts";
import { graphemesOf, widthOf } from "../../../src/terminal/text/wrap.ts";
import type { Cells } from "../kit/cells.ts";
import { FakeTerminal } from "../kit/fake-terminal.ts";
import { ScriptedConversation } from "../kit/scripted-conversation.ts";
import { anySize, anySteps, type Step } from "./any-drawing.ts";

const paint = (line: Line): string => painted(line, themeNamed("plain"));

const parameters = { seed: 13, numRuns: runs(100) };
const timeout = 120_000;

/** The space is not drawn, so the row is exactly as wide as the terminal becomes. */
const spaceAtTheEnd: [Size, Step[]] = [
  { columns: 23, rows: 6 },
  [
    { finished: [""], open: [], input: ["日本日本word word ", ""], status: "", size: null },
    { finished: [], open: [], input: [""], status: "", size: { columns: 20, rows: 6 } },
  ],
];

/** Ten wide characters fit into a row of 21 columns, so they take five rows, though their width would fit into four. */
const wideInOddWidth: [Size, Step[]] = [
  { columns: 100, rows: 24 },
  [
    { finished: ["a", "b"], open: ["日".repeat(41)], input: [""], status: "", size: null },
    { finished: [], open: [], input: [""], status: "", size: { columns: 21, rows: 24 } },
  ],
];

test(
  "what is finished is written once, in order; the live region once, below; the cursor is where one types",
  { timeout },
  async () => {
    const steps = anySteps({ resizes: false, open: 60 });
    await fc.assert(fc.asyncProperty(anySize, steps, drawAll), parameters);
  },
);

test("so it is after any resize that leaves the live region room", { timeout }, async () => {
  const steps = anySteps({ resizes: true, open: 60 });
  await fc.assert(fc.asyncProperty(anySize, steps, drawAll), {
    ...parameters,
    examples: [spaceAtTheEnd, wideInOddWidth],
  });
});

test(
  "rows with emoji are whole where the terminal takes them for wider or narrower, and the cursor is behind what is typed",
  { timeout },
  async () => {
    const pieces = ["a", "b ", "日", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "☀️", "1️⃣"];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(""));
    const drawn = async (rows: readonly (readonly [open: string, input: string])[]): Promise<void> => {
      const terminal = new FakeTerminal({ columns: 100, rows: 12 }, { emoji: false });
      const conversation = new ScriptedConversation();
      const region = liveRegion(new InkOutput(terminal.output), terminal.input);
      for (const [open, input] of rows) {
        conversation.open = [`=${open}.`];
        conversation.input = input;
        const { rows: wanted, cursor } = liveRows(conversation.shown(), sizeOf(terminal), paint);
        region.draw("", { rows: wanted, cursor });
        await region.flushed();
        await terminal.cells.settled();
        const shown = terminal.cells.screen().map((row) => row.trimEnd());
        expect(shown.slice(0, wanted.length)).toEqual(wanted.map((row) => row.trimEnd()));
        const { active } = terminal.cells.terminal.buffer;
        const typed = active.getLine(active.cursorY)?.translateToString(false, 0, active.cursorX);
        expect(typed).toBe(`> ${input}`);
      }
      terminal.cells.terminal.dispose();
    };
    const steps = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 6 });
    await fc.assert(fc.asyncProperty(steps, drawn), parameters);
  },
);

/** Draws the steps, and checks the whole terminal after each. */
const drawAll = async (first: Size, steps: readonly Step[]): Promise<void> => {
  const terminal = new FakeTerminal(first);
  const conversation = new ScriptedConversation();
  const region = liveRegion(new InkOutput(terminal.output), terminal.input);
  const finished: string[] = [];
  let rows: Rows = { rows: [], cursor: null };
  for (const { finished: added, open, input, status, size } of steps) {
    if (size !== null && !isWholeAfter(terminal, size, rows)) break;
    const texts = added.map((text, at) => `#${finished.length + at}#${text}.`);
    finished.push(...texts);
    conversation.open = open;
    conversation.input = input.map((text, at) => `${at}${text}`).join("\n");
    conversation.status = `=${status}`;
    rows = liveRows(conversation.shown(), sizeOf(terminal), paint);
    region.draw(texts.map((text) => `${text}\n`).join(""), rows);
    await region.flushed();
    await terminal.cells.settled();
    expectShown(terminal.cells, finished, rows);
  }
  region.end();
  terminal.cells.terminal.dispose();
};

const expectShown = (cells: Cells, finished: readonly string[], { rows, cursor }: Rows): void => {
  const lines = cells.lines().map((line) => line.trimEnd());
  const wanted = [...finished, ...rows].map((row) => row.trimEnd());
  expect(lines.slice(0, wanted.length)).toEqual(wanted);
  expect(lines.slice(wanted.length).join("")).toBe("");
  const { column, row } = cells.cursor();
  expect({ column, text: cells.screen()[row]?.trimEnd() }).toEqual({
    column: cursor?.column,
    text: rows[cursor?.row ?? 0]?.trimEnd(),
  });
};

/** Resizes the terminal, which wraps the rows again. Returns false if that pushed rows out of reach. */
const isWholeAfter = (terminal: FakeTerminal, { columns, rows }: Size, drawn: Rows): boolean => {
  const { cells } = terminal;
  terminal.resize(columns, rows);
  const above = drawn.rows.slice(0, drawn.cursor?.row).reduce((sum, row) => sum + heightOf(row, columns), 0);
  return above <= cells.cursor().row;
};

/** Returns the number of rows into which a terminal wraps one. */
const heightOf = (row: string, columns: number): number => {
  let height = 1;
  let used = 0;
  for (const width of graphemesOf(row.trimEnd()).map(widthOf)) {
    if (used + width > columns) height += 1;
    used = used + width > columns ? width : used + width;
  }
  return height;
};

const sizeOf = ({ output: { columns, rows } }: FakeTerminal): Size => ({ columns, rows });
