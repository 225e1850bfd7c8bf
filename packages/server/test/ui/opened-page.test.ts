import { fails, reply, type ScriptLine } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { at, post } from "../serving.ts";
import { Chat, painted, stage, watchedServer } from "./page.ts";

const served = (...script: readonly ScriptLine[]) => {
  const { server } = watchedServer(stage(script));
  return { server, load: (query?: string) => painted(server, query) };
};

test("a page is shown that a turn failed before its answer began", async () => {
  const { server, load } = served(fails({ kind: "auth" }));
  await new Chat({ server }).sendMessage({ text: "one" });
  expect(await load()).toMatchObject([
    { role: "user" },
    { role: "assistant", parts: [], metadata: { status: "failed" } },
  ]);
});

test("a page that opens with its newest turns gets as many as it asks for, and is refused other numbers", async () => {
  const { server, load } = served(reply("1"), reply("2"), reply("3"));
  const chat = new Chat({ server });
  for (const text of ["one", "two", "three"]) await chat.sendMessage({ text });
  const counts = await Promise.all(["?last=1", "?last=2", "?last=9"].map(async (query) => (await load(query)).length));
  expect(counts).toEqual([2, 4, 6]);
  for (const last of ["0", "1.5", "-1", "x"])
    expect((await server.fetch(at(`/ui/t/messages?last=${last}`))).status).toBe(400);
});

test("a page that sends back a whole answer gets all of it again", async () => {
  const { server, load } = served(reply("Hi."));
  await new Chat({ server }).sendMessage({ text: "Hello?" });
  const messages = await load();
  const again = await (await server.fetch(post("/ui", { id: "t", messages }))).text();
  expect(again).toContain('"delta":"Hi."');
  expect(again).not.toContain("data-differs");
});
