import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ThreadServer } from "../../src/index.ts";
import { at } from "../serving.ts";
import { Chat, keptOf } from "./page.ts";

let folder = "";
let child: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-killed-page-"));
});

afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A process with a server on the same file each time, over a socket. */
const started = async (which: "first" | "second"): Promise<Pick<ThreadServer, "fetch">> => {
  const script = join(import.meta.dirname, "../responses/server-process.ts");
  child = spawn(process.execPath, [script, join(folder, "threads.db"), which], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("the server has no output");
  const [line]: unknown[] = await once(child.stdout, "data");
  const address = `http://127.0.0.1:${String(line).trim()}`;
  return { fetch: (request) => fetch(new Request(`${address}${new URL(request.url).pathname}`, request)) };
};

test("a page whose server is killed in mid-stream resumes on the next one, and has what the thread has", async () => {
  let server = await started("first");
  const chat = new Chat({ server: { fetch: (request) => server.fetch(request) } });
  const sent = chat.sendMessage({ text: "Tell me." });
  await expect.poll(() => chat.lastMessage?.parts).toMatchObject([{}, { text: "It was a " }]);
  child?.kill("SIGKILL");
  await sent;
  expect(chat.status).toBe("error");

  server = await started("second");
  await chat.resumeStream();
  expect(chat.status).toBe("ready");
  expect(chat.lastMessage?.parts).toMatchObject([{}, { text: "It was a dark night.", state: "done" }]);
  const painted = await server.fetch(at("/ui/t/messages"));
  expect(keptOf(chat.messages)).toEqual(await painted.json());
});
