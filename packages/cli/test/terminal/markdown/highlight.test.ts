import fc from "fast-check";
import { expect, test } from "vitest";
import { highlighted } from "../../../src/terminal/markdown/highlight.ts";
import { runs } from "../../../../../test/runs.ts";

const rolesOf = (code: string, language: string): readonly string[] =>
  highlighted(code, language)
    .flat()
    .map(({ text, roles }) => `${text}:${roles.join()}`);

test.each([
  ["ts", "const a = 1;", ["const:keyword", "1:number"]],
  ["JavaScript", "let a = 'b'; // c", ["let:keyword", "'b':string", "// c:comment"]],
  ["json", '{"a": true}', ['"a":name', "true:keyword"]],
  ["python", "def a(): # b", ["def:keyword", "a:name", "# b:comment"]],
  ["bash", "if true; then # b", ["if:keyword", "# b:comment"]],
  ["yaml", "a: 1", ["a::name", "1:number"]],
  ["sql", "select 'a'", ["select:keyword", "'a':string"]],
  ["html", "<b>a</b>", ["b:name"]],
  ["css", "a { color: red }", ["a:keyword", "color:name"]],
  ["rust", "fn a() {}", ["fn:keyword", "a:name"]],
  ["go", "func a() {}", ["func:keyword", "a:name"]],
  ["diff", "+a\n-b", ["+a:added", "-b:removed"]],
  ["unheard-of", "if a", ["if a:code"]],
  ["", "if a", ["if a:code"]],
  ["constructor", "if a", ["if a:code"]],
])("%s", (language, code, spans) => {
  expect(rolesOf(code, language)).toEqual(expect.arrayContaining(spans));
});

test("the text of any code stays as it is", () => {
  const piece = fc.constantFrom(
    ..."<>&\"'`{}()/*#$\n;:=- \t\\".split(""),
    "if",
    "&lt;",
    "<span>",
    "&amp;",
    "</b>",
    "é日",
    "1e",
    "\u001B[m",
  );
  const code = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
  const language = fc.constantFrom("ts", "json", "python", "bash", "yaml", "sql", "html", "css", "rust", "go", "diff");
  fc.assert(
    fc.property(code, language, (given, name) => {
      const lines = highlighted(given, name);
      expect(lines.map((line) => line.map(({ text }) => text).join("")).join("\n")).toBe(given);
    }),
    { seed: 13, numRuns: runs(300) },
  );
});

test("code that is long, or in long lines, has no colours", () => {
  expect(rolesOf(`"${"a".repeat(1000)}"`, "ts")).toEqual([expect.stringMatching(/:code$/)]);
  expect(
    new Set(
      highlighted("const a = 1;\n".repeat(1000), "ts")
        .flat()
        .map(({ roles }) => roles.join()),
    ),
  ).toEqual(new Set(["code"]));
});
