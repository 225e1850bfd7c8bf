import { expect, test } from "vitest";
import { conversationMachine } from "../../src/index.ts";
import { explain, explanationTable } from "../../src/inspect.ts";
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
