// Shows how to constrain an answer, for docs/outputs.md. A scripted model takes the place of a real one.
import { createHost, OutputError, sqliteStore, strictProblems } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import * as z from "zod";

const model = scriptedModel([
  reply('{"title":"A line of lines that wait","words":"6"}'),
  reply('{"title":"Waiting lines","words":"2"}'),
  reply("Sorry, I have no idea."),
]);
const host = createHost({ store: sqliteStore({ path: ":memory:" }), llm: model });

const Title = z.object({
  title: z.string().refine((title) => title.split(" ").length <= 3, "at most 3 words"),
  words: z.string().transform(Number),
});
const { output, text, usage } = await host.ask("A title for a talk about queues?", {
  output: { schema: Title, name: "title", mode: "prompted" },
});
console.log(output.title, output.words + 1); // words is a number
console.log(text, usage.calls);

try {
  await host.ask("Another one?", { output: { schema: Title, name: "title", mode: "prompted", repairs: 0 } });
} catch (error) {
  if (!(error instanceof OutputError)) throw error;
  const { failure, issues, text } = error;
  console.log(failure.kind, issues.length, text);
}

const Loose = z.object({ title: z.string().optional(), tags: z.record(z.string(), z.number()) });
for (const { path, reason } of strictProblems(z.toJSONSchema(Loose))) console.log(`${path}: ${reason}`);

await host.close();
