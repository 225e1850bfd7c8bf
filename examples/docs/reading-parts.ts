// Shows when reading the parts of an ask ends or throws, and what awaiting it does, for docs/asking.md.
import { type AskHandle, createHost, sqliteStore } from "@colloquy/runtime-node";
import { fails, never, reply, scriptedModel } from "@colloquy/runtime-test/models";

const host = createHost({
  store: sqliteStore({ path: ":memory:" }),
  llm: scriptedModel([
    reply("A queue is a line."),
    fails({ kind: "bad_request", message: "no such model" }),
    never({ pieces: ["It is ", "a line "] }),
    never(),
  ]),
});
const thread = host.thread("ada");

const show = async (name: string, ask: AskHandle, onText: () => void = () => {}): Promise<void> => {
  let last = "no part";
  let reading = "ends";
  try {
    for await (const part of ask) {
      last = part.type;
      if (part.type === "text.delta") onText();
    }
  } catch (error) {
    reading = `throws ${nameOf(error)}`;
  }
  const awaiting = await ask.then(
    ({ text }) => `gives "${text}"`,
    (error: unknown) => `rejects with ${nameOf(error)}`,
  );
  console.log(`${name}: ${last}, then reading ${reading}; awaiting ${awaiting}`);
};

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error));

await show("answered", thread.ask("What is a queue?"));
await show("failed", thread.ask("And a stack?"));
const long = thread.ask("Tell me everything about queues.");
await show("aborted", long, () => long.abort("enough"));
await show("at a limit", thread.ask("And now?", { limits: { steps: 0 } }));
await show("aborted before", thread.ask("Never mind.", { signal: AbortSignal.abort() }));

const open = thread.ask("Are you there?");
for await (const part of open) if (part.type === "step.started") break; // leaving the loop does not cancel
await show("refused", thread.ask("Hello?"));
open.abort();
await show("reading on", open);
await host.close();
