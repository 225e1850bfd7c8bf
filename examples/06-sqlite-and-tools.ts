// A thread in SQLite, which outlives its process, with a tool whose arguments zod checks.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost, type Host, type LlmHandler, sqliteStore, tool } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

const folder = mkdtempSync(join(tmpdir(), "colloquy-example-"));

const lend = tool({
  name: "lend",
  description: "Lends a book until a day of the month.",
  input: z.object({ book: z.string(), until: z.int().min(1).max(31) }),
  // After a crash it must not run twice: its start is journalled before it runs.
  recovery: "once",
  run: ({ book, until }, { idempotencyKey }) => {
    console.log(`  lending "${book}" until day ${until}, under the key ${idempotencyKey}`);
    return { lent: book, until };
  },
});

/** Runs one process: it makes its own host and store. All that lasts is in the file. */
const startProcess = async (llm: LlmHandler, talk: (host: Host) => Promise<void>): Promise<void> => {
  const store = sqliteStore({ path: join(folder, "library.db") });
  const host = createHost({ llm, store, tools: [lend], machine: { limits: { steps: 5 } } });
  await talk(host);
  await host.close();
  await store.close();
};

const call = (until: number) => toolCalls([{ name: "lend", arguments: { book: "Dune", until } }]);

await startProcess(
  // The first arguments are invalid: the model reads the error and corrects them.
  scriptedModel([call(32), call(3), reply("You have Dune until day 3.")]),
  async (host) => {
    const { text, messages } = await host.ask("May I have Dune?", { threadId: "ada" });
    console.log(`${text} (${messages.length} messages)`);
  },
);

console.log("-- another process");

await startProcess(
  scriptedModel([
    reply("Dune.", { expects: ({ messages, mentions }) => messages.length === 7 && mentions("May I have Dune?") }),
  ]),
  async (host) => {
    console.log((await host.ask("Which book was it?", { threadId: "ada" })).text);
    const state = await host.thread("ada").state();
    console.log(`${state?.context.conversation.turns.length} turns, ${state?.context.seq} entries behind the first`);
  },
);

rmSync(folder, { recursive: true });
