import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { isToolUIPart, type UIMessage } from "ai";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { threadServer, type ThreadServer } from "../../src/index.ts";
import { at } from "../serving.ts";
import { Chat, pay } from "./page.ts";

let folder = "";
let child: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-killed-approval-"));
});

afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Kills a process that holds its thread and waits for an approval. */
const killed = async (): Promise<void> => {
  const script = join(import.meta.dirname, "waiting-process.ts");
  child = spawn(process.execPath, [script, join(folder, "threads.db")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("the process has no output");
  for await (const line of createInterface(child.stdout)) if (line === "asked") break;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
};

const nextServer = (): ThreadServer => {
  const store = sqliteStore({ path: join(folder, "threads.db") });
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

// The dead process still held the thread: another one takes its lease at once.
test("a page reads the approval of a killed process without waiting for its lease", async () => {
  await killed();
  const server = nextServer();
  expect(await (await server.fetch(at("/ui/t/messages"))).json()).toMatchObject(waiting);
  expect((await server.fetch(at("/ui/t/stream"))).status).toBe(204);
});

test("a page answers the approval of a killed process at once, and the turn continues", async () => {
  await killed();
  const server = nextServer();
  const messages = (await (await server.fetch(at("/ui/t/messages"))).json()) as UIMessage[];
  const chat = new Chat({ server, messages });
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
