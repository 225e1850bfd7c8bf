import { createHost, declarationsOf, memoryStore } from "@colloquy/host";
import { type Content, conversationMachine, messagesOf, type MessageDraft } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { fails, reply, type ScriptLine, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, onTestFinished, test } from "vitest";
import { threadServer } from "../../src/index.ts";
import { studioRoutes } from "../../src/studio/index.ts";
import type { Made } from "../../src/studio/wire/wire.ts";
import { errorOf, post } from "../serving.ts";
import { pay } from "../ui/page.ts";

const served = async (...script: readonly ScriptLine[]) => {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const llm = scriptedModel(script);
  const machine = conversationMachine({ tools: declarationsOf([pay]) });
  const host = createHost({ llm, store, clock, ids: sequentialIds(), tools: [pay], machine });
  onTestFinished(() => host.close());
  const server = threadServer(
    host,
    {},
    await studioRoutes({ store, clock, configurations: [{ name: "now", host }], about: "" }),
  );
  const act = (path: string, body: object): Promise<Response> =>
    server.fetch(post(`/studio/api/${path}?thread=t`, body));
  return { host, llm, act };
};

const image: Content = [
  { type: "text", text: "What is this?" },
  { type: "image", url: "https://example.com/a.png" },
];

const asked: readonly MessageDraft[] = [
  { role: "developer", content: "Answer in one word." },
  { role: "user", content: image, name: "ada", metadata: { from: "Oslo" } },
];

test.each<readonly [string, ScriptLine]>([
  ["was answered", reply("A cat.")],
  ["failed before its answer", fails({ kind: "auth", message: "no" })],
])("the studio asks again all that a turn was asked, if it %s", async (_, line) => {
  const { host, llm, act } = await served(line, reply("A dog."));
  const thread = host.thread("t");
  await thread.ask(asked).catch(() => null);
  // Cast: the route promises this type.
  const { threadId } = (await (await act("again", { turn: 1 })).json()) as Made;
  const copy = host.thread(threadId);
  await expect.poll(() => llm.calls.length).toBe(2);
  const without = (messages: (typeof llm.calls)[number]["messages"] = []) =>
    messages.map(({ role, parts, name, metadata }) => ({ role, parts, name, metadata }));
  expect(without(llm.calls[1]?.messages)).toEqual(without(llm.calls[0]?.messages));
  expect(llm.calls.map(({ model }) => model)).toEqual([{}, {}]);
  const said = async () => copy.look((state) => messagesOf(state).map(({ role }) => role));
  await expect.poll(said).toEqual(["developer", "user", "assistant"]);
});

test.each([1, 2])("the studio does not ask turn %i again while it is open, or before it is there", async (turn) => {
  const { host, act } = await served(toolCalls([{ name: "pay", arguments: {} }]));
  for await (const part of host.thread("t").ask("Pay.")) if (part.type === "approval.requested") break;
  expect(await errorOf(await act("again", { turn }))).toMatchObject({
    status: 404,
    message: `turn ${turn} is not there, or still open`,
    param: "turn",
  });
  expect((await host.threads()).threads).toHaveLength(1);
});

test.each<readonly [string, object, object]>([
  ["a denial with its reason", { approve: false, reason: "too dear" }, { approved: false, reason: "too dear" }],
  ["a denial without a reason", { approve: false }, { approved: false }],
  ["an approval", { approve: true }, { approved: true }],
])("the studio journals %s, and who gave it", async (_, decision, journalled) => {
  const { host, act } = await served(toolCalls([{ name: "pay", arguments: {} }]), reply("So be it."));
  const thread = host.thread("t");
  const answer = thread.ask("Pay.");
  for await (const part of answer) if (part.type === "approval.requested") break;
  const [{ id, digest } = { id: "", digest: "" }] = await thread.approvals();
  expect((await act("approval", { id, digest, ...decision })).status).toBe(200);
  await answer;
  const events = (await thread.exportJournal()).map(({ event }) => event);
  const [answered] = events.filter(({ type }) => type === "approval.answered");
  expect(answered).toMatchObject({ ...journalled, by: "studio" });
  expect("reason" in Object(answered)).toBe("reason" in journalled);
});
