// Answers to questions about hosts in operation, for docs/how-do-i-run.md. Scripted models take the place of real ones.
import { readCost } from "@colloquy/machine/inspect";
import { pricesPerMillion } from "@colloquy/machine/policies";
import { createHost, limitCalls, memoryStore } from "@colloquy/runtime-node";
import { fails, reply, ruleModel, scriptedModel } from "@colloquy/runtime-test/models";

const store = memoryStore();
const usage = { inputTokens: 8_000_000, outputTokens: 0 };

{
  const llm = scriptedModel([reply("A line.", { usage, model: "gpt-4o-mini" }), fails({ kind: "auth" })]);
  const pricing = pricesPerMillion("USD", { "gpt-4o-mini": { input: 0.15, output: 0.6, cachedInput: 0.075 } });
  // Billionths of a dollar: no turn begins another call after 5 cents.
  const host = createHost({ llm, store, machine: { pricing, limits: { costNano: 50_000_000 } } });
  const thread = host.thread("ada");
  await thread.ask("What is a queue?");
  const spent = await thread.look((state) => readCost(state.context.usage.total));
  console.log(spent?.text); // readCost: @colloquy/machine/inspect, pricesPerMillion: @colloquy/machine/policies
  const dollars = spent?.amounts.find(({ currency }) => currency === "USD")?.amount ?? 0;
  if (dollars > 1) console.log("Ada has no credit left."); // ask no more
  await host.close();
}

{
  const llm = ruleModel([{ name: "any", when: () => true, answer: () => "Hello." }]);
  const host = createHost({ llm: limitCalls(llm, { atOnce: 8 }), store });
  await Promise.all(["a", "b", "c"].map((threadId) => host.ask("Hello?", { threadId })));
  await host.close();
}

{
  const llm = scriptedModel([fails({ kind: "auth", message: "Incorrect API key" }), reply("Hello.")]);
  const log = console.log; // or your logger
  const host = createHost({
    llm,
    store,
    observers: [
      {
        entry: ({ seq, event }, threadId) => log({ threadId, seq, type: event.type }), // what is journalled
        signal: (signal, threadId) => signal.type === "model.failed" && log({ threadId, failure: signal.failure }),
      },
    ],
    onObserverError: (error, where) => log({ where, error: String(error) }), // background work too
  });
  await host.ask("Hello?", { threadId: "logged" }).catch((error: unknown) => log(String(error)));
  await host.close();
}

{
  const llm = scriptedModel([reply("Hello.")]);
  const machine = { idleTimeoutMs: 30_000, limits: { deadlineMs: 120_000 } }; // of a silence, of a turn
  const host = createHost({ llm, store, machine, storeTimeoutMs: 5_000 });
  console.log((await host.ask("Hello?", { threadId: "timed" })).text);
  await host.close();
}

{
  const llm = scriptedModel([reply("Hello.")]);
  const host = createHost({ llm, store, partsMs: 200 }); // any process can show what another one streams
  host.start(); // once the server listens: continues what the last process left open
  await host.close(); // at SIGTERM: releases its threads; open turns continue in the next process
}
