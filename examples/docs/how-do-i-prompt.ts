// Answers to questions about what a model sees, for docs/how-do-i-prompt.md. Scripted models take the place of real ones.
import { messagesOf, promptOf } from "@colloquy/machine";
import { explanationTable } from "@colloquy/machine/inspect";
import {
  compactTurns,
  compose,
  fitOversized,
  lastTurns,
  limitResults,
  omitFields,
  tokenWindow,
} from "@colloquy/machine/policies";
import { gptCounter } from "@colloquy/interchange/tokens";
import { ContextUnfitError, createHost, memoryStore } from "@colloquy/runtime-node";
import { ruleModel } from "@colloquy/runtime-test/models";

const llm = ruleModel([{ name: "anything", when: () => true, answer: () => "It depends." }]);
const store = memoryStore();

{
  const machine = { policy: lastTurns(20), budget: { tokens: 128_000, reserve: 8_000 } };
  const host = createHost({ llm, store, machine });
  await host.close();
}

{
  const machine = { policy: compactTurns({ keepTurns: 4 }), budget: { tokens: 128_000, reserve: 8_000 } };
  const host = createHost({ llm, store, machine });
  await host.close();
}

{
  const counter = await gptCounter({ model: "gpt-4o" }); // from @colloquy/interchange/tokens; without it, an estimate
  const host = createHost({ llm, store, machine: { counter } });
  const thread = host.thread("ada");
  const { usage } = await thread.ask("What is a queue?");
  console.log("reported:", usage.inputTokens.sum, "in,", usage.outputTokens.sum, "out");
  const next = await thread.look((state) => promptOf(host.machine, state)); // promptOf: @colloquy/machine
  console.log("the next prompt:", next?.tokens);
  await host.close();
}

{
  const budget = { tokens: 600, reserve: 200 };
  const policy = compose(
    limitResults({ characters: 8_000 }), // long tool results
    fitOversized(), // an open turn that is too long by itself
    tokenWindow({ cutTo: 0.6 }), // old turns
  );
  const host = createHost({ llm, store, machine: { policy, budget } });
  await host.ask("word ".repeat(4_000), { threadId: "long" });
  await host.close();

  const strict = createHost({ llm, store, machine: { budget } });
  await strict.ask("word ".repeat(4_000), { threadId: "strict" }).catch((error: unknown) => {
    if (error instanceof ContextUnfitError) console.log(error.unfit.tokens, "tokens of", error.unfit.available);
  });
  await strict.close();
}

{
  const find = async (question: string): Promise<string[]> => [`(what your search finds for "${question}")`];
  const host = createHost({ llm, store, machine: { policy: omitFields(["documents"]) } });
  const question = "May I return a kettle?";
  const { text } = await host.ask(
    [
      { type: "text", text: question },
      { type: "data", field: "documents", value: await find(question) }, // shown in this turn only
    ],
    { threadId: "returns" },
  );
  console.log(text);
  await host.ask("And a pan?", { threadId: "returns" });
  const shown = await host.thread("returns").look((state) => promptOf(host.machine, state).messages.length);
  const parts = await host.thread("returns").look((state) => promptOf(host.machine, state).messages[0]?.parts.length);
  console.log(shown, "messages; the first has", parts, "part");
  await host.close();
}

{
  const host = createHost({ llm, store, machine: { policy: lastTurns(1) } });
  const thread = host.thread("grace");
  await thread.ask("I am allergic to nuts.");
  const [first] = (await thread.look((state) => messagesOf(state))) ?? []; // messagesOf: @colloquy/machine
  if (first !== undefined) await thread.pin(first.id); // each prompt shows it, under any policy
  await thread.ask("What shall I cook?");

  const explanation = await thread.explain(); // explanationTable: @colloquy/machine/inspect
  if (explanation !== null) console.log(explanationTable(explanation));
  await host.close();
}
