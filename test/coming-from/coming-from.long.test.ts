import { describe, expect, test } from "vitest";
import { rows as conversationalAgent } from "./conversational-agent.ts";
import { rows as dialogueHistory } from "./dialogue-history.ts";
import { rows as dspySession } from "./dspy-session.ts";
import { rows as jido } from "./jido.ts";
import { rows as openSearchLangChain } from "./opensearch-langchain.ts";
import { read, type Rows } from "./parts.ts";

/** The systems of docs/coming-from.md, by the headings of their tables. */
const systems: Readonly<Record<string, readonly Rows[]>> = {
  "DSPy's ConversationalAgent": conversationalAgent(),
  "Jido AI": jido(),
  "LangChain over OpenSearch": openSearchLangChain(),
  "retico's DialogueHistory": dialogueHistory(),
  "dspy-session": dspySession(),
};

/** Returns the rows of the tables below a heading, up to the next heading of its level. */
const rowsUnder = (heading: string): readonly (readonly [theirs: string, ours: string])[] => {
  const [, section = ""] = read("docs/coming-from.md").split(`\n## ${heading}\n`);
  const [text = ""] = section.split(/^## /m);
  return text.split("\n").flatMap((line) => {
    const [, theirs, ours, ...more] = line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll(String.raw`\|`, "|"));
    if (theirs === undefined || ours === undefined || theirs === "theirs" || /^-+$/.test(theirs)) return [];
    if (more.length !== 1) throw new Error(`a row has two cells: ${line}`);
    return [[theirs.replaceAll("`", ""), ours] as const];
  });
};

/** Removes white space and comments from code, since pages break lines differently. */
const bare = (code: string): string =>
  code
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .replaceAll(/\s+/g, "")
    .replaceAll(/,(?=[)\]}])/g, "");

describe.each(Object.entries(systems))("docs/coming-from.md, %s", (heading, tables) => {
  const shown = rowsUnder(heading);
  const rows = tables.flatMap((table) => Object.entries(table));

  test("has the rows that are run, in their order", () => {
    expect(shown.map(([theirs]) => theirs)).toEqual(rows.map(([theirs]) => theirs));
  });

  test.each(shown)("%s", async (theirs, ours) => {
    expect.hasAssertions();
    const run = rows.find(([name]) => name === theirs)?.[1];
    const codes = [...ours.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
    expect(codes).not.toEqual([]);
    expect(codes.filter((code) => !bare(String(run)).includes(bare(code)))).toEqual([]);
    await run?.();
  });
});
