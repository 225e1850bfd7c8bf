// A custom model handler: docs/model-calls.md shows it.
import { textOf } from "@colloquy/machine";
import { createHost, type LlmHandler, sqliteStore } from "@colloquy/runtime-node";

const shout: LlmHandler = async ({ messages }, { signal, onDelta }) => {
  const last = messages.at(-1);
  if (last === undefined) {
    const message = "there is nothing to shout";
    return { type: "failed", failure: { kind: "bad_request", message, retryable: false } };
  }
  const content = textOf(last).toUpperCase();
  for (const text of content.split(/(?<= )/)) {
    signal.throwIfAborted(); // nobody wants the rest any more
    onDelta({ type: "text", text });
  }
  return { type: "completed", reply: { content }, finishReason: "stop" };
};

const host = createHost({
  store: sqliteStore({ path: ":memory:" }),
  llm: shout,
});
console.log((await host.ask("Is anybody there?")).text);
await host.close();
