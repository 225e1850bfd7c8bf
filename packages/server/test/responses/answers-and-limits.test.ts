import { textOf } from "@colloquy/machine";
import { never, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test, vi } from "vitest";
import type { HostedThread } from "@colloquy/host";
import { approvalOf, lookUp, outputOf, refund, responding, waitsFor, weather } from "./responding.ts";

const asked = { model: "any", input: "Hi" } as const;
const rain = toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]);

test.each([
  [1, "incomplete"],
  [2, "completed"],
  [null, "completed"],
])("a response that may call %j tools, and would call two, is %s", async (max, status) => {
  const { client } = responding(scriptedModel([rain, rain, reply("Rain.")]), { tools: [weather] });
  expect((await client.responses.create({ ...asked, max_tool_calls: max })).status).toBe(status);
});

test("what a user says beside the outputs of calls is in the prompt after them", async () => {
  const llm = scriptedModel([toolCalls([{ name: "look_up", arguments: { id: "7" } }]), reply("Ada.")]);
  const { client } = responding(llm);
  const first = await client.responses.create({ ...asked, tools: [lookUp] });
  const input = [outputOf(waitsFor(first).call, "Ada"), { role: "user", content: "In short." } as const];
  expect((await client.responses.create({ input, previous_response_id: first.id })).output_text).toBe("Ada.");
  expect(
    llm.calls
      .at(-1)
      ?.messages.map(({ role }) => role)
      .toSorted(),
  ).toEqual(["assistant", "tool", "user", "user"]);
  expect(llm.calls.at(-1)?.messages.map(textOf)).toContain("In short.");
});

test("a request whose queued copy was withdrawn is answered as cancelled when it is sent again", async () => {
  const { client, host } = responding(scriptedModel([never()]));
  await host.thread("c").start();
  const sent = { ...asked, conversation: "c", background: true };
  const first = await client.responses.create(sent);
  const headers = { "idempotency-key": "two" };
  const queued = await client.responses.create(sent, { headers });
  await client.responses.cancel(queued.id);
  expect(await client.responses.create(sent, { headers })).toMatchObject({ id: queued.id, status: "cancelled" });
  await client.responses.cancel(first.id);
});

test("a client reads a queued response whose turn starts just then", async () => {
  const { client, host } = responding(scriptedModel([reply("One."), reply("Two.")]));
  await host.thread("c").start();
  const askId = "0".repeat(32);
  await host.thread("c").ask("Hi", { askId });
  // Cast: all threads of a host have one prototype.
  const threads = Object.getPrototypeOf(host.thread("c")) as Pick<HostedThread, "asked">;
  const { asked: askedOf } = threads;
  vi.spyOn(threads, "asked").mockImplementationOnce(async function (this: HostedThread, ...given) {
    const record = await askedOf.apply(this, given);
    return record === null ? null : { ...record, turn: null };
  });
  const found = await client.responses.retrieve(`resp_${askId}_c`);
  vi.restoreAllMocks();
  expect(found).toMatchObject({ id: "resp_1_1_c", status: "completed", output_text: "One." });
});

test("an approval that is denied without a reason continues the turn", async () => {
  const { client } = responding(
    scriptedModel([toolCalls([{ name: "refund", arguments: { order: "A1" } }]), reply("No.")]),
    {
      tools: [refund],
    },
  );
  const first = await client.responses.create(asked);
  const input = [approvalOf(waitsFor(first).approval, false)];
  expect((await client.responses.create({ input, previous_response_id: first.id })).output_text).toBe("No.");
});
