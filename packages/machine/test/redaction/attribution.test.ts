import { expect, test } from "vitest";
import type { ExpectedOutput } from "../../src/index.ts";
import { entriesToRedact, type RedactionTarget } from "../../src/storage.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { right } from "../reading.ts";

const typesIn = (talk: CheckedTalk, target: RedactionTarget): readonly string[] =>
  right(entriesToRedact(talk.entries, target)).map((seq) => `${seq} ${talk.entries[seq]?.event.type}`);

test("the entries of an answer include what was found of it as an output", () => {
  const talk = new CheckedTalk();
  const output: ExpectedOutput = { name: "title", schema: { type: "object" }, mode: "native", repairs: 2 };
  talk.tell({ type: "ask.received", askId: "a", input: "A title?", output });
  const check = () => talk.out().find(({ type }) => type === "checkOutput")?.id ?? "none";
  talk.reply('{"title":"Spring"}');
  talk.tell({ type: "output.refused", effectId: check(), issues: [{ path: ["title"], message: "not Spring" }] });
  talk.reply('{"title":"Autumn"}');
  talk.tell({ type: "output.accepted", effectId: check(), value: { title: "Autumn" } });
  const messages = talk.entries.flatMap(({ event }) => (event.type === "llm.completed" ? [event.reply.content] : []));
  expect(messages).toHaveLength(2);
  expect(typesIn(talk, { message: "1.1" })).toEqual(["2 llm.completed", "3 output.refused"]);
  expect(typesIn(talk, { message: "1.3" })).toEqual(["4 llm.completed", "5 output.accepted"]);
});

test("the entries of an answer do not include a part that was shown of the answer before it in the same turn", () => {
  const talk = new CheckedTalk({ overlap: { type: "queue", max: 5 } });
  talk.ask("one");
  talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial: { content: "first" } });
  talk.tell({ type: "ask.received", askId: "b", input: "two", joins: {} });
  talk.reply("first answer");
  talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial: { content: "second" } });
  talk.reply("second answer");
  expect(typesIn(talk, { message: "1.1" })).toEqual(["2 llm.progressed", "4 llm.completed"]);
  expect(typesIn(talk, { message: "1.3" })).toEqual(["5 llm.progressed", "6 llm.completed"]);
});
