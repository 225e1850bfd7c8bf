// The code of docs/sessions.md.
import { fromDspySession, mergeExamples, session, type SavedSession } from "@colloquy/sessions";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";

const signature = {
  inputs: z.object({ question: z.string() }),
  outputs: z.object({ answer: z.string() }),
};
const qa = session(
  ({ question }, { memory }) => ({ answer: `${question} is number ${memory.exchanges.length + 1}.` }),
  { name: "qa", signature },
);
await qa.call({ question: "A" });
console.log(await qa.call({ question: "B" })); // { answer: "B is number 2." }
console.log((await qa.memory()).text);

const saw = await qa.promptOfTurn(2);
await qa.reset();
console.log(saw?.memory.exchanges.length, (await qa.promptOfTurn(2))?.memory.exchanges.length);
await qa.thread.redo(2);

const saved: SavedSession = await qa.save();
const copy = await qa.load(JSON.parse(JSON.stringify(saved)), { threadId: "copy" });
await copy.call({ question: "C" });
const all = mergeExamples(await qa.examples(), await copy.examples({ includeHistory: false }));
console.log(all.map(({ thread, turn }) => `${thread} ${turn}`).join(", "));

const file = {
  version: 2,
  history_field: "history",
  max_turns: 5,
  exclude_fields: ["history"],
  turns: [{ index: 0, inputs: { question: "A" }, outputs: { answer: "B" }, score: 1 }],
};
const read = fromDspySession(file);
if (Either.isLeft(read)) throw new Error(read.left);
const theirs = session((inputs: object) => inputs, { name: "theirs", ...read.right.options });
const ada = await theirs.load(read.right.saved, { threadId: "ada" });
console.log(await ada.count(), read.right.losses);
await Promise.all([qa.close(), theirs.close()]);
