import type { HostedThread } from "@colloquy/host";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { never, scriptedModel } from "@colloquy/runtime-test/models";
import { promptFormat } from "@colloquy/interchange/templates";
import { expect, test } from "vitest";
import { DialogueHistory, interrupt } from "../../src/dialogue/index.ts";

const nothing = async (): Promise<void> => {};

/** Wraps a thread so that something else happens before and after the calls of one method. */
const meanwhile = (
  thread: HostedThread,
  method: "cancel" | "addTurn",
  before: () => Promise<unknown>,
  after: () => Promise<unknown>,
): HostedThread =>
  new Proxy(thread, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...given: unknown[]) => {
        if (name === method) await before();
        const result: unknown = await Reflect.apply(value, target, given);
        if (name === method) await after();
        return result;
      };
    },
  });

test("an interruption does not cancel the turn of a queued ask that opens in the meantime", async () => {
  const host = createHost({ llm: scriptedModel([never({ pieces: ["One, two."] }), never()]), store: memoryStore() });
  const thread = host.thread("ada");
  const first = thread.ask("Count.");
  first.catch(() => {});
  for await (const part of first) if (part.type === "text.delta") break;
  const second = thread.ask("Next.", { overlap: "queue" });
  second.catch(() => {});
  let cancelled = false;
  const opened = async (): Promise<void> => {
    if (cancelled) return;
    cancelled = true;
    await thread.cancel();
    for await (const part of second) if (part.type === "turn.started") break;
  };
  const interrupted = interrupt(meanwhile(thread, "cancel", opened, nothing), { clause: 0, character: 2 });
  await expect(interrupted).rejects.toMatchObject({ refusal: { kind: "busy" } });
  expect((await thread.state())?.context.open?.number).toBe(2);
  await host.close();
});

test("a turn that answers several asks is interrupted for all of them", async () => {
  const llm = scriptedModel([never({ pieces: ["One, two."] })]);
  const host = createHost({ llm, store: memoryStore() });
  const thread = host.thread("ada");
  const first = thread.ask("Count.");
  first.catch(() => {});
  for await (const part of first) if (part.type === "text.delta") break;
  const steering = thread.steer("Faster.");
  steering.catch(() => {});
  await expect.poll(async () => (await thread.asks()).length).toBe(2);
  expect(await interrupt(thread, { clause: 0, character: 2 })).toMatchObject({ turn: 1, spoken: "One" });
  expect((await thread.state())?.context.open).toBeNull();
  await host.close();
});

test("an interruption truncates the sentence that it added, even if another writer adds one after it", async () => {
  const host = createHost({ llm: scriptedModel([]), store: memoryStore() });
  const thread = host.thread("ada");
  const format = promptFormat({
    system_prompt: { pre: "", suf: "" },
    prompt: { pre: "", suf: "" },
    user: { role: "User", role_sep: ":", pre: "", suf: "\n" },
    agent: { role: "Agent", role_sep: ":", pre: "", suf: "\n" },
  });
  const other = (): Promise<void> => thread.addTurn([{ role: "assistant", content: "Another's words." }]);
  const history = new DialogueHistory(meanwhile(thread, "addTurn", nothing, other), { format });
  const sentence = { speaker: "agent", text: "Hello there, you." } as const;
  const aligned = await history.interruptionAlignmentNewAgentSentence(sentence, { clause: 0, character: 4 });
  expect(aligned).toMatchObject({ turnId: 1, text: "Hello" });
  expect((await history.getDialogueHistory()).map(({ text }) => text)).toEqual(["", "Hello", "Another's words."]);
  await host.close();
});
