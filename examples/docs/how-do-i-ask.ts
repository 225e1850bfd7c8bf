// Answers to questions about asks and models, for docs/how-do-i-ask.md. A server on this machine stands in for OpenAI's.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createHost,
  type LlmHandler,
  memoryStore,
  openaiChat,
  openaiResponses,
  TurnCancelledError,
} from "@colloquy/runtime-node";
import { fails, never, reply, scriptedModel, streams } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";

const folder = mkdtempSync(join(tmpdir(), "colloquy-example-"));
const photo = join(folder, "receipt.png");
const report = join(folder, "report.pdf");
writeFileSync(photo, "a picture");
writeFileSync(report, "a report");

const model = scriptedModel([
  never({ pieces: ["Once upon a time "] }),
  reply("Yes.", { expects: (_, call) => call.model["model"] === "gpt-4o" }),
  reply("12 euros."),
  reply("Nothing new."),
  streams([{ reasoning: "What would Ada say?" }, "42."]),
]);
const server = await loopbackServer({ model });
process.env["OPENAI_BASE_URL"] = server.url;
process.env["OPENAI_API_KEY"] = "none";
const llm = openaiChat({ model: "gpt-4o-mini" });
const store = memoryStore();

{
  const host = createHost({ llm, store });
  const stop = new AbortController(); // or the `signal` of a request
  const asked = host.ask("Tell me a story.", { threadId: "ada", signal: stop.signal });
  for await (const part of asked) if (part.type === "text.delta") stop.abort("enough");
  await asked.catch((error: unknown) => {
    if (error instanceof TurnCancelledError) console.log("kept:", error.summary.text);
  });
  await host.close();
}

{
  const host = createHost({ llm, store, machine: { retry: { attempts: 5, baseDelayMs: 200, maxDelayMs: 10_000 } } });
  await host.close();
}

{
  const withFallback = (first: LlmHandler, second: LlmHandler): LlmHandler =>
    Object.assign<LlmHandler, Pick<LlmHandler, "secrets">>(
      async (call, context) => {
        const outcome = await first(call, context);
        const wasShown = outcome.type === "failed" && outcome.partial !== undefined;
        return outcome.type === "failed" && outcome.failure.retryable && !wasShown ? second(call, context) : outcome;
      },
      { secrets: () => [...(first.secrets?.() ?? []), ...(second.secrets?.() ?? [])] }, // kept out of failures
    );
  const broken = scriptedModel([fails({ kind: "overloaded" })]);
  const other = scriptedModel([reply("The other model answers.")]);
  const host = createHost({ llm: withFallback(broken, other), store: memoryStore() });
  console.log((await host.ask("Hello?")).text);
  await host.close();
}

{
  const claude: LlmHandler = scriptedModel([reply("From Claude.")]);
  const gpt = openaiChat({ model: "gpt-4o-mini" });
  const byName: LlmHandler = (call, context) =>
    call.model["model"] === "claude-sonnet-4-5" ? claude(call, context) : gpt(call, context);
  const host = createHost({ llm: byName, store });
  const thread = host.thread("grace");
  await thread.ask("Is it?", { model: { model: "gpt-4o", temperature: 0 } }); // this turn only
  console.log((await thread.ask("Really?", { model: { model: "claude-sonnet-4-5" } })).text);
  await host.close();
}

{
  const llm = openaiChat({ model: "llama3.2", baseURL: "http://127.0.0.1:11434/v1" }); // no key is needed
  await createHost({ llm, store }).close();
}

{
  const host = createHost({ llm, store });
  const image = readFileSync(photo, "base64");
  const { text } = await host.ask(
    [
      { type: "text", text: "What did this cost?" },
      { type: "image", url: `data:image/png;base64,${image}`, detail: "low" }, // or an https: URL
    ],
    { threadId: "photos" },
  );
  console.log(text);

  const pdf = `data:application/pdf;base64,${readFileSync(report, "base64")}`;
  const file = { type: "file", file: { filename: "report.pdf", file_data: pdf } }; // or { file_id }
  const { text: answer } = await host.ask(
    [
      { type: "text", text: "What is new?" },
      { type: "opaque", value: file },
    ],
    { threadId: "reports" },
  );
  console.log(answer);
  await host.close();
}

{
  const llm = openaiResponses({ model: "gpt-5.4" });
  const host = createHost({ llm, store, machine: { model: { reasoning: { effort: "low", summary: "auto" } } } });
  for await (const part of host.ask("What is six times seven?", { threadId: "sums" })) {
    if (part.type === "reasoning.delta") console.log("thinks:", part.text);
    if (part.type === "text.delta") console.log("says:", part.text);
  }
  await host.close();
}
model.assertComplete();
const sent = JSON.stringify(server.requests.map(({ body }) => body));
console.log(["image_url", "file_data"].map((part) => sent.includes(part)));

const anything = scriptedModel(["Hello.", "Bonjour.", "Three.", "One.", "Later."].map((text) => reply(text)));
{
  const host = createHost({ llm: anything, store, system: "You help customers." });
  const supportOf = (user: { name: string; plan: string }) => `You help ${user.name}, who pays for ${user.plan}.`;
  const thread = host.thread("linus");
  await thread.start({ system: supportOf({ name: "Linus", plan: "Pro" }) }); // before the first ask
  await thread.ask("Hello.");
  await thread.changeSystem("Answer in French."); // from the next turn on
  console.log((await thread.ask("Hello again.")).text);
  await host.close();
}

{
  const host = createHost({ llm: anything, store });
  const askId = "order-17"; // drawn by the client, and sent again with the same request
  const once = await host.ask("How many?", { threadId: "orders", askId });
  const again = await host.ask("How many?", { threadId: "orders", askId }); // calls no model
  console.log(once.turn === again.turn, again.text);

  const first = host.ask("First.", { threadId: "busy" });
  const second = host.ask("Second.", { threadId: "busy", overlap: "queue" }); // or "interrupt", "steer", "merge"
  console.log((await first).text, (await second).text);
  await host.close();
}

delete process.env["OPENAI_BASE_URL"];
delete process.env["OPENAI_API_KEY"];
await server.close();
rmSync(folder, { recursive: true });
