import { createHost, type Host, type HostedThread, memoryStore, tool } from "@colloquy/host";
import { conversationMachine, type MachineOptions, type State } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel, type ScriptLine, streams } from "@colloquy/runtime-test/models";

/** Makes a host of a scripted model, on a virtual clock. */
export const hostOf = (script: readonly ScriptLine[], machine: MachineOptions = {}): Host => {
  const clock = virtualClock();
  const weather = tool({
    name: "weather",
    description: "The weather of a place.",
    input: { jsonSchema: { type: "object" } },
    run: () => "12 degrees,\nrain",
  });
  return createHost({
    machine: conversationMachine({ tools: [weather.declaration], ...machine }),
    store: memoryStore({ clock }),
    llm: scriptedModel(script),
    tools: [weather],
    clock,
    ids: sequentialIds(),
  });
};

/** Makes a thread with a tool, branches, a checkpoint, a score and a failed turn. Its head is not its newest turn. */
export const story = async (): Promise<{
  readonly host: Host;
  readonly thread: HostedThread;
  readonly state: State;
}> => {
  const usage = { inputTokens: 1_200, outputTokens: 34 };
  const host = hostOf([
    streams([{ reasoning: "I look it up." }, { toolCall: { name: "weather", arguments: { place: "Oslo" } } }]),
    reply("It **rains** in Oslo.", { usage }),
    reply("A dragon, then.", { usage }),
    reply("It sleeps.", { usage }),
    fails({ kind: "bad_request", message: "no such model" }),
    reply("A librarian, then.", { usage }),
    reply("She reads.", { usage }),
  ]);
  const thread = host.thread("story");
  const ask = (question: string): Promise<unknown> => Promise.allSettled([thread.ask(question)]);
  await ask("What is the weather in Oslo?");
  await thread.checkpoint("opening");
  await ask("there was a dragon");
  await ask("what does it do?");
  await thread.annotate(3, "quality", 0.9);
  await thread.branch(1);
  await ask("there was a knight");
  await thread.branch(1);
  await ask("there was a librarian, who had read all the books of the town and wanted more of them than there were");
  await ask("what does she do?");
  const state = await thread.state();
  if (state === null) throw new Error("the story was not begun");
  return { host, thread, state };
};
