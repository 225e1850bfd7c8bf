import { expect, test } from "vitest";
import {
  type CompletableCommand,
  completed,
  completionOf,
  layOutCompletion,
} from "../../../src/terminal/input/completion.ts";
import { editorOf } from "../../../src/terminal/input/editor.ts";
import { after, textOf, wide, withCursor } from "./editing.ts";

const commands: readonly CompletableCommand[] = [
  { name: "/undo", usage: "/undo [N]", does: "takes turns back" },
  { name: "/usage", usage: "/usage", does: "what it took" },
  {
    name: "/restore",
    usage: "/restore NAME",
    does: "goes back to a checkpoint",
    complete: (prefix) => ["before", "best\u001B[31m"].filter((name) => name.startsWith(prefix)),
  },
];

const offered = (typed: string, columns = 60, rows = 24): readonly string[] => {
  const completion = completionOf(editorOf(typed), commands);
  if (completion === null) return [];
  return textOf({ lines: layOutCompletion(completion, { columns, rows }), cursor: { row: 0, column: 0 } });
};

/** Returns the input after Tabs (1) and Shift+Tabs (-1). */
const taken = (typed: string, ...steps: readonly (1 | -1)[]): string => {
  let [completion, editor] = [completionOf(editorOf(typed), commands), editorOf(typed)];
  for (const by of steps) if (completion !== null) ({ completion, editor } = completed(completion, by));
  return withCursor(editor);
};

test.each<[string, readonly string[]]>([
  ["", []],
  ["hello /u", []],
  ["/u", ["  /undo [N]  takes turns back", "  /usage     what it took"]],
  ["/un", ["  /undo [N]  takes turns back"]],
  ["/x", []],
  ["/undo ", ["  /undo [N]  takes turns back"]],
  ["/undo 3", ["  /undo [N]  takes turns back"]],
  ["/nothing 3", []],
  ["/restore ", ["  before", "  best␛[31m"]],
  ["/restore bef", ["  before"]],
  ["/restore x", ["  /restore NAME  goes back to a checkpoint"]],
  ["/un\nmore", []],
])("%j offers %j", (typed, rows) => expect(offered(typed)).toEqual(rows));

test("is offered at the end of the input alone", () => {
  expect(completionOf(after("/un<left>"), commands)).toBeNull();
  expect(completionOf(after("see @no<left>"), commands, () => ["notes.md"])).toBeNull();
});

test("is cut to the columns, and takes a quarter of the rows", () => {
  expect(offered("/u", 18)).toEqual(["  /undo [N]  tak…", "  /usage     wha…"]);
  expect(offered("/", 60, 10)).toHaveLength(2);
  expect(offered("/u", 1)).toEqual(["", ""]);
});

test("the chosen completion is among the visible rows", () => {
  const first = completionOf(editorOf("/"), commands);
  const last = first === null ? null : completed(first, -1).completion;
  const lines = last === null ? [] : layOutCompletion(last, { ...wide, rows: 4 });
  expect(lines).toEqual([
    [
      { text: "  /restore NAME", roles: ["selected"] },
      { text: "  goes back to a checkpoint", roles: ["dim"] },
    ],
  ]);
});

test.each([
  ["/un", [1], "/undo |"],
  ["/u", [1, 1], "/usage|"],
  ["/u", [1, 1, 1], "/undo |"],
  ["/u", [-1], "/usage|"],
  ["/u", [1, -1], "/usage|"],
  ["/restore b", [1, 1], "/restore best[31m|"],
  ["/undo 3", [1], "/undo 3|"],
] as const)("%j with %j becomes %j", (typed, steps, text) => expect(taken(typed, ...steps)).toBe(text));

test("the path behind the last @ is completed, where it begins a word", () => {
  const paths = (prefix: string): readonly string[] =>
    ["notes.md", "node.ts"].filter((path) => path.startsWith(prefix));
  const offered = (typed: string) => completionOf(editorOf(typed), commands, paths)?.offers.map(({ text }) => text);
  expect(offered("What is in @no")).toEqual(["What is in @notes.md", "What is in @node.ts"]);
  expect(offered("@not")).toEqual(["@notes.md"]);
  expect(offered("two\nlines @nod")).toEqual(["two\nlines @node.ts"]);
  expect(offered("ada@no")).toBeUndefined();
  expect(offered("@nothing")).toBeUndefined();
  expect(completionOf(editorOf("see @no"), commands)).toBeNull();
});
