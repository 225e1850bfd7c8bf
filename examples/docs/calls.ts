// Bounds the calls of a model, and calls another one when it refuses: docs/model-calls.md shows it.
import { createHost, limitCalls, type LlmHandler, memoryStore } from "@colloquy/runtime-node";
import { runningClock } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel } from "@colloquy/runtime-test/models";

const clock = runningClock();
const primary = scriptedModel([fails({ kind: "overloaded" }), reply("A line."), fails({ kind: "timeout" })]);
const secondary = scriptedModel([reply("A pile.")]);

/** Calls a second model if the first one fails, may be retried, and has shown nothing. */
const withFallback = (first: LlmHandler, second: LlmHandler): LlmHandler => {
  const handler: LlmHandler = async (call, context) => {
    const outcome = await first(call, context);
    if (outcome.type === "completed" || !outcome.failure.retryable || outcome.partial !== undefined) return outcome;
    return second(call, context);
  };
  return Object.assign(handler, { secrets: () => [first, second].flatMap((each) => each.secrets?.() ?? []) });
};

const limited = limitCalls(primary, { atOnce: 8 }); // one queue for all hosts that use it
const host = createHost({ llm: withFallback(limited, secondary), clock, store: memoryStore({ clock }) });

const asked = host.ask("What is a queue?");
for await (const part of asked) {
  if (part.type === "wait.started" && part.for === "model") console.log("waits for the model");
}
console.log((await asked).text);
console.log((await host.ask("And a stack?")).text);
await host.close();
