import { expect, test } from "vitest";
import type { ThreadServer } from "../../src/index.ts";
import { newStore, started } from "../processes.ts";
import { Chat, keptOf, painted } from "./page.ts";

/** Starts a process with a server. Returns its fetch function and kill. */
const serverOn = async (path: string, which: "first" | "second") => {
  const { kill, said } = await started("responses/server-process.ts", path, which);
  const server: Pick<ThreadServer, "fetch"> = {
    fetch: (request) => fetch(new Request(`http://127.0.0.1:${said}${new URL(request.url).pathname}`, request)),
  };
  return { kill, server };
};

test("a page whose server is killed in mid-stream resumes on the next one, and has what the thread has", async () => {
  const path = newStore();
  let { server, kill } = await serverOn(path, "first");
  const chat = new Chat({ server: { fetch: (request) => server.fetch(request) } });
  const sent = chat.sendMessage({ text: "Tell me." });
  await expect.poll(() => chat.lastMessage?.parts).toMatchObject([{}, { text: "It was a " }]);
  await kill();
  await sent;
  expect(chat.status).toBe("error");

  ({ server, kill } = await serverOn(path, "second"));
  await chat.resumeStream();
  expect(chat.status).toBe("ready");
  expect(chat.lastMessage?.parts).toMatchObject([{}, { text: "It was a dark night.", state: "done" }]);
  expect(keptOf(chat.messages)).toEqual(await painted(server));
});
