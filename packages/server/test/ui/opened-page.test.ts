import { fails, reply, type ScriptLine, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { at, post } from "../serving.ts";
import { Chat, pageErrorOf, painted, stage, watchedServer } from "./page.ts";

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

test("a page may give its message an id of one character, and finds it again by that", async () => {
  const { server, load } = served(reply("Hi."));
  const messages = [{ id: "m", role: "user", parts: [{ type: "text", text: "Hello?" }] }];
  await (await server.fetch(post("/ui", { id: "t", messages }))).text();
  expect(await load()).toMatchObject([{ id: "m", role: "user" }, { id: "turn-1" }]);
});

test("a page that answers in a turn which another answer has replaced is refused", async () => {
  const { server, load } = served(reply("Hi."), reply("Hello."));
  const chat = new Chat({ server });
  await chat.sendMessage({ text: "Hello?" });
  const before = await load();
  await chat.regenerate();
  const refused = await server.fetch(post("/ui", { id: "t", messages: before }));
  expect(await pageErrorOf(refused)).toMatchObject({ status: 400, kind: "changed" });
});

test("a page that opens is shown that a call was denied without a reason", async () => {
  const { server, load } = served(toolCalls([{ name: "pay", arguments: {} }]), reply("Not paid."));
  const chat = new Chat({ server });
  await chat.sendMessage({ text: "Pay." });
  await chat.addToolApprovalResponse({ id: "1.1.0", approved: false });
  await chat.sendMessage();
  const denied = (await load())[1]?.parts[1];
  expect(denied).toMatchObject({ state: "output-denied" });
  expect(denied !== undefined && "approval" in denied ? denied.approval : null).toEqual({
    id: "1.1.0",
    approved: false,
  });
});
