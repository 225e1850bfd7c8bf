import { createHost, type Host, type LlmHandler, memoryStore } from "@colloquy/runtime-node";
import { EventRefusedError } from "@colloquy/host";
import { ConfigurationError, messagesOf, textOf, turnNumbered } from "@colloquy/machine";
import { never, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, it } from "vitest";
import { interrupt } from "../../src/dialogue/index.ts";

const answer = "Café: well, 😀 how are you? I am fine.";

const hostOf = (llm: LlmHandler): Host => createHost({ llm, store: memoryStore() });

it("cuts the answer to its spoken part, marks the turn, and later prompts show no more", async () => {
  const model = scriptedModel([reply(answer), reply("Good.")]);
  const host = hostOf(model);
  const thread = host.thread("ada");
  await thread.ask("Hello?");
  const place = { clause: 2, character: 1 };
  expect(await interrupt(thread, place)).toEqual({
    turn: 1,
    spoken: "Café: well, 😀",
    unspoken: " how are you? I am fine.",
  });
  const state = await thread.state();
  const turn = state === null ? undefined : turnNumbered(state, 1);
  expect(turn?.annotations).toMatchObject([{ name: "interrupted", value: place }]);
  await thread.ask("And?");
  expect(model.calls[1]?.messages.map(textOf)).toEqual(["Hello?", "Café: well, 😀", "And?"]);
  expect(model.calls[1]?.messages[1]?.truncated).toEqual({ characters: answer.length });
  await host.close();
});

it("changes nothing when it is repeated, and cuts an older turn by its number", async () => {
  const host = hostOf(scriptedModel([reply(answer), reply("Good.")]));
  const thread = host.thread("ada");
  await thread.ask("Hello?");
  await thread.ask("And?");
  const place = { turn: 1, clause: 0, character: 2 };
  await interrupt(thread, place);
  const journal = await thread.exportJournal();
  expect(await interrupt(thread, place)).toEqual({ turn: 1, spoken: "Caf", unspoken: "" });
  expect(await thread.exportJournal()).toHaveLength(journal.length);
  await host.close();
});

it("cancels an open turn, and cuts its shown part", async () => {
  const host = hostOf(scriptedModel([never({ pieces: ["One, two, ", "three, four"] })]));
  const thread = host.thread("ada");
  const asked = thread.ask("Count.");
  const over = asked.catch(() => {});
  let shown = "";
  for await (const part of asked) {
    shown += part.type === "text.delta" ? part.text : "";
    if (shown.endsWith("four")) break;
  }
  expect(await interrupt(thread, { clause: 1, character: 3 })).toEqual({
    turn: 1,
    spoken: "One, two",
    unspoken: ", three, four",
  });
  await over;
  const state = await thread.state();
  const [, said] = state === null ? [] : messagesOf(state);
  expect(said).toMatchObject({ incomplete: true, parts: [{ type: "text", text: "One, two" }] });
  await host.close();
});

it("keeps nothing of an open turn that has shown nothing", async () => {
  const host = hostOf(scriptedModel([never()]));
  const thread = host.thread("ada");
  const asked = thread.ask("Count.");
  const over = asked.catch(() => {});
  for await (const part of asked) if (part.type === "turn.started") break;
  expect(await interrupt(thread, { clause: 0, character: 3 })).toEqual({ turn: 1, spoken: "", unspoken: "" });
  await over;
  await host.close();
});

it("refuses an unknown turn, a missing answer and an invalid place", async () => {
  const host = hostOf(scriptedModel([reply(answer)]));
  const thread = host.thread("ada");
  const place = { clause: 0, character: 0 };
  await expect(interrupt(thread, place)).rejects.toThrow("it has no turns; ask first");
  await thread.addTurn([{ role: "user", content: "Hello?" }]);
  await expect(interrupt(thread, place)).rejects.toThrow("turn 1 has no answer");
  await expect(interrupt(thread, { ...place, turn: 7 })).rejects.toThrow(EventRefusedError);
  await expect(interrupt(thread, { clause: -1, character: 0 })).rejects.toThrow(ConfigurationError);
  await host.close();
});
