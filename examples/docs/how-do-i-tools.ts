// Answers to questions about tools, for docs/how-do-i-tools.md. Scripted models take the place of real ones.
import { setTimeout } from "node:timers/promises";

import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { reply, ruleModel, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

const store = memoryStore();
const call = (name: string, input: Record<string, string>) => toolCalls([{ name, arguments: input }]);

{
  const render = tool({
    name: "render",
    description: "Renders a film.",
    input: z.object({ film: z.string() }),
    timeoutMs: 600_000, // then the model reads that it may or may not have taken effect
    concurrency: 2, // more calls wait
    run: async ({ film }, { signal }) => {
      await setTimeout(1, null, { signal }); // a cancelled turn aborts it
      return `/films/${film}.mp4`;
    },
  });
  const llm = scriptedModel([call("render", { film: "emma" }), reply("It is ready.")]);
  const host = createHost({ llm, store, tools: [render] });
  for await (const part of host.ask("Render Emma.", { threadId: "films" })) {
    if (part.type === "toolCall") console.log("running", part.name);
    if (part.type === "toolResult") console.log("done", part.content);
  }
  await host.close();
}

{
  const orders = new Map<string, string>();
  const order = tool({
    name: "order",
    description: "Orders a thing.",
    input: z.object({ thing: z.string() }),
    recovery: "once", // after a crash it does not run again: the model reads that the outcome is unknown
    run: ({ thing }, { idempotencyKey }) => {
      orders.set(idempotencyKey, thing); // the same key for the same call, also after a restart
      return "ordered";
    },
  });
  const llm = scriptedModel([call("order", { thing: "kettle" }), reply("Ordered.")]);
  const host = createHost({ llm, store, tools: [order] });
  console.log((await host.ask("A kettle, please.", { threadId: "shop" })).text, [...orders.values()]);
  await host.close();
}

{
  const notes = memoryStore();
  const small = ruleModel([{ name: "any", when: () => true, answer: ({ lastUserText: it }) => `Notes on ${it}` }]);
  // A store of its own, since a host continues all threads of its store.
  const researcher = createHost({ llm: small, store: notes, system: "You research." });
  const research = tool({
    name: "research",
    description: "Lets a researcher answer a question.",
    input: z.object({ question: z.string() }),
    recovery: "rerun", // the same askId has the same outcome
    run: async ({ question }, { threadId, idempotencyKey, signal }) => {
      const asked = researcher.ask(question, { threadId: `${threadId}/research`, askId: idempotencyKey, signal });
      return (await asked).text;
    },
  });
  const llm = scriptedModel([
    call("research", { question: "queues" }),
    reply("Here they are.", { expects: "Notes on queues" }),
  ]);
  const host = createHost({ llm, store, tools: [research], system: "You write." });
  console.log((await host.ask("Write about queues.", { threadId: "essay" })).text);
  await host.close();
  await researcher.close();
}

{
  const llm = ruleModel([{ name: "never ends", when: () => true, answer: () => call("look", {}) }]);
  const look = tool({ name: "look", description: "Looks again.", input: z.object({}), run: () => "nothing" });
  const limits = { steps: 8, toolCalls: 20, deadlineMs: 120_000 }; // of each turn
  const host = createHost({ llm, store, tools: [look], machine: { limits } });
  await host
    .ask("Keep looking.", { threadId: "loop", limits: { steps: 2 } })
    .catch((error: unknown) => console.log(String(error)));
  await host.close();
}
