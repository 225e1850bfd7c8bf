import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { isToolUIPart } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { threadServer, type ThreadServer } from "../../src/index.ts";
import { newStore, started } from "../processes.ts";
import { at } from "../serving.ts";
import { Chat, painted, pay } from "./page.ts";

/** Kills a process that holds its thread and waits for an approval. Returns a server on its store. */
const killed = async (): Promise<ThreadServer> => {
  const path = newStore();
  const { kill, said } = await started("ui/waiting-process.ts", path);
  expect(said).toBe("asked");
  await kill();
  const store = sqliteStore({ path });
  const host = createHost({ llm: scriptedModel([reply("Paid.")]), store, tools: [pay] });
  onTestFinished(async () => {
    await host.close();
    await store.close();
  });
  return threadServer(host);
};

const waiting = [
  { role: "user" },
  { role: "assistant", parts: [{}, { type: "tool-pay", state: "approval-requested" }] },
];

// The dead process still held the lease; another one takes it at once.
test("a page reads the approval of a killed process without waiting for its lease", async () => {
  const server = await killed();
  expect(await painted(server)).toMatchObject(waiting);
  expect((await server.fetch(at("/ui/t/stream"))).status).toBe(204);
});

test("a page answers the approval of a killed process at once, and the turn continues", async () => {
  const server = await killed();
  const chat = new Chat({ server, messages: await painted(server) });
  for (const part of chat.lastMessage?.parts ?? [])
    if (isToolUIPart(part) && part.state === "approval-requested")
      await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
  await chat.sendMessage();
  expect(chat.error).toBeUndefined();
  expect(chat.lastMessage?.parts).toMatchObject([
    {},
    { type: "tool-pay", state: "output-available", output: "paid" },
    {},
    { type: "text", text: "Paid." },
  ]);
});
