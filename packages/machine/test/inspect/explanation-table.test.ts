import { expect, test } from "vitest";
import { conversationMachine } from "../../src/index.ts";
import { explain, type Explanation, explanationTable } from "../../src/inspect.ts";
import { rolling } from "../hand-made.ts";
import { Talk } from "../talk.ts";

test.each<readonly [string, { readonly system?: string }, readonly string[]]>([
  ["at its beginning", {}, ["summary"]],
  ["after the system message", { system: "Be brief." }, ["system", "summary"]],
])("explanationTable lists the summary of older turns %s, and then each unit", (_, input, first) => {
  const talk = new Talk(conversationMachine({ policy: rolling() }), input);
  for (const text of ["One", "Two"]) {
    talk.ask(`${text}?`);
    talk.reply(`${text}.`);
  }
  talk.reply("They counted.");
  const [, ...lines] = explanationTable(explain(talk.machine, talk.state)).split("\n");
  const kinds = lines.slice(0, lines.indexOf("")).map((line) => /system|summary|user|assistant/.exec(line)?.[0]);
  expect(kinds).toEqual([...first, "user", "assistant", "user", "assistant"]);
});

/** Explains a thread with one question. */
const explained = (question = "Why?"): Explanation => {
  const talk = new Talk(conversationMachine());
  talk.ask(question);
  return explain(talk.machine, talk.state);
};

const linesOf = (explanation: Explanation): readonly string[] => explanationTable(explanation).split("\n");

test.each<readonly [string, Partial<Explanation>, readonly string[]]>([
  [
    "without a bound",
    { available: null, share: null, budget: null, tokens: 9, besideTokens: 3, wholeTokens: 12 },
    [
      "prompt   9 tokens, no bound; 3 of them beside the messages; the whole thread takes 12",
      "policy   keep-all@1: everything is kept",
    ],
  ],
  [
    "that does not fit, by a calibrated counter",
    { tokens: 90, available: 60, share: 1.5, fits: false, budget: { tokens: 99, reserve: 9 }, calibration: 1.5 },
    [
      "prompt   90 tokens of 60 (150 %), does not fit; 3 of them beside the messages; the whole thread takes 8",
      "budget   99 tokens, 9 of them left for the answer; a model reports 1.5 for each that is counted",
      "policy   keep-all@1: everything is kept",
    ],
  ],
  [
    "that can't be counted",
    { tokens: null, besideTokens: null, wholeTokens: null, available: 60, budget: null, failed: "no count today" },
    [
      "prompt   ? tokens of 60, fits; ? of them beside the messages; the whole thread takes ?",
      "policy   keep-all@1: everything is kept",
      "failed   no count today",
    ],
  ],
])("explanationTable gives the figures of a prompt %s", (_, more, lines) => {
  const table = linesOf({ ...explained(), ...more });
  expect(table.slice(table.indexOf("") + 1)).toEqual(lines);
});

/** Returns a text in so many columns, and one in a column more with its form in a table. */
const around = (columns: number): readonly [string, string, string] => {
  const text = "x".repeat(columns);
  return [text, `${text}x`, `${text.slice(1)}…`];
};

test("explanationTable cuts the words of a unit at 28 columns, and the reason for it at 100", () => {
  const [text, longText, cutText] = around(28);
  const [reason, longReason, cutReason] = around(100);
  const rowOf = (question: string, why: string): string => {
    const explanation = explained(question);
    const units = explanation.units.map((unit) => ({ ...unit, why }));
    return linesOf({ ...explanation, units })[1] ?? "";
  };
  expect(rowOf(text, reason)).toMatch(new RegExp(` {2}${text} .* ${reason}$`));
  expect(rowOf(longText, longReason)).toMatch(new RegExp(` {2}${cutText} .* ${cutReason}$`));
});

test("explanationTable cuts a policy with its reason at 100 columns, and the reason why it failed at 200", () => {
  const [reason, longReason, cutReason] = around(100 - "own@1: ".length);
  const [failed, longFailed, cutFailed] = around(200);
  const lastOf = (more: Partial<Explanation>) => linesOf({ ...explained(), policy: "own@1", ...more }).slice(-2);
  expect(lastOf({ reason, failed })).toEqual([`policy   own@1: ${reason}`, `failed   ${failed}`]);
  expect(lastOf({ reason: longReason, failed: longFailed })).toEqual([
    `policy   own@1: ${cutReason}`,
    `failed   ${cutFailed}`,
  ]);
});
