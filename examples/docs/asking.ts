// Shows an ask and its possible outcomes, for docs/asking.md. A scripted model takes the place of a real one.
import {
  type AskHandle,
  createHost,
  LimitReachedError,
  sqliteStore,
  TurnCancelledError,
  TurnFailedError,
} from "@colloquy/runtime-node";
import { fails, never, reply, scriptedModel } from "@colloquy/runtime-test/models";

const model = scriptedModel([
  reply("A queue is a line."),
  fails({ kind: "bad_request", message: "no such model" }),
  never({ pieces: ["It is ", "a line "] }),
]);

const host = createHost({
  store: sqliteStore({ path: ":memory:" }),
  llm: model,
  system: "Answer briefly.",
});

const asked = host.ask("What is a queue?", { threadId: "ada", limits: { steps: 3 } });
for await (const part of asked) {
  if (part.type === "text.delta") process.stdout.write(part.text);
}
const { text, turn, usage } = await asked;
console.log(`\n${text.length} characters, turn ${turn}, ${usage.calls} call`);

const show = async (ask: AskHandle): Promise<void> => {
  try {
    const { text } = await ask;
    console.log(text);
  } catch (error) {
    if (error instanceof LimitReachedError) console.log(`stopped by ${error.reached.limit}`);
    else if (error instanceof TurnFailedError) console.log(`${error.failure.kind}: ${error.failure.message}`);
    else if (error instanceof TurnCancelledError) console.log(`cancelled, after "${error.summary.text}"`);
    else throw error; // the ask was refused, or the thread could not be used
  }
};

await show(host.ask("And a stack?", { threadId: "ada" }));

const endless = host.ask("Tell me everything about queues.", { threadId: "ada" });
for await (const part of endless) {
  if (part.type === "text.delta" && part.text.includes("line")) endless.abort("enough");
}
await show(endless);

await show(host.ask("And now?", { threadId: "ada", limits: { steps: 0 } }));

// The same askId gives the same outcome, and calls no model.
await show(host.ask("What is a queue?", { threadId: "ada", askId: asked.askId }));

model.assertComplete();
await host.close();
