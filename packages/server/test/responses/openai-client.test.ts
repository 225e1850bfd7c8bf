import { textOf } from "@colloquy/machine";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { approvalOf, lookUp, outputOf, refund, responding, waitsFor, weather } from "./responding.ts";

test("a response is answered, has the members that the SDK reads, and is read again by its id", async () => {
  const { client } = responding(scriptedModel([reply("Hello there.")]));
  const response = await client.responses.create({ model: "any", input: "Hello" });
  expect(response.output_text).toBe("Hello there.");
  expect(response.status).toBe("completed");
  expect(response.id).toMatch(/^resp_1_1_/u);
  const again = await client.responses.retrieve(response.id);
  expect(again).toEqual(response);
});

test("the stream of a text is one that the SDK folds to the final response", async () => {
  const { client } = responding(scriptedModel([reply("Hello there, friend.")]));
  const stream = client.responses.stream({ model: "any", input: "Hello" });
  expect((await stream.finalResponse()).output_text).toBe("Hello there, friend.");
});

test("a response goes on behind the one before, and branches behind an earlier one without running it again", async () => {
  const model = scriptedModel([reply("one"), reply("two"), reply("other two")]);
  const { client, host } = responding(model);
  const first = await client.responses.create({ model: "any", input: "1" });
  const second = await client.responses.create({ model: "any", input: "2", previous_response_id: first.id });
  const other = await client.responses.create({ model: "any", input: "2b", previous_response_id: first.id });
  expect([second.output_text, other.output_text]).toEqual(["two", "other two"]);
  expect(second.conversation).toEqual(first.conversation);
  expect(other.conversation).not.toEqual(first.conversation);
  expect(model.calls[2]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  const thread = await host.thread(first.conversation?.id).state();
  expect(thread?.context.conversation.head).toBe(2);
  model.assertComplete();
});

test.each([
  ["its own", "Be kind.", {}, "Be kind."],
  ["the host's", null, {}, "Be brief."],
  ["the instructions of the request", null, { instructions: "Be loud." }, "Be loud."],
])("a conversation that the client sends whole has as its system message %s", async (_, own, more, system) => {
  for (const store of [true, false]) {
    const model = scriptedModel([reply("Oslo.")]);
    const { client } = responding(model, { system: "Be brief." });
    const input = [
      ...(own === null ? [] : [{ role: "system", content: own } as const]),
      { role: "user", content: "Where?" } as const,
      { role: "assistant", content: "In Norway." } as const,
      { role: "user", content: "Where there?" } as const,
    ];
    await client.responses.create({ model: "any", input, store, ...more });
    expect(model.calls[0]?.messages.map(textOf)).toEqual([system, "Where?", "In Norway.", "Where there?"]);
  }
});

test("calls of the caller's tools end the response, and their outputs go on with the same turn", async () => {
  const model = scriptedModel([toolCalls([{ name: "look_up", arguments: { id: "7" } }]), reply("It is Ada.")]);
  const { client } = responding(model);
  const first = await client.responses.create({ model: "any", input: "Who is 7?", tools: [lookUp] });
  expect(first.status).toBe("completed");
  const [call] = first.output;
  expect(call).toMatchObject({ type: "function_call", name: "look_up", arguments: '{"id":"7"}' });
  const callId = waitsFor(first).call;
  const output = outputOf(callId, "Ada");
  const second = await client.responses.create({
    model: "any",
    input: [output],
    previous_response_id: first.id,
    tools: [lookUp],
  });
  expect(second.output_text).toBe("It is Ada.");
  expect(second.id).toMatch(/^resp_1_2_/u);
  expect(second.previous_response_id).toBe(first.id);
  // A repeated request is the same leg and calls no model.
  const again = await client.responses.create({ model: "any", input: [output], previous_response_id: first.id });
  expect(again.id).toBe(second.id);
  expect((await client.responses.retrieve(first.id)).output).toEqual(first.output);
  expect((await client.responses.inputItems.list(second.id)).data).toMatchObject([{ call_id: callId, output: "Ada" }]);
  model.assertComplete();
});

test("tools that run here are mcp_call items, which no client runs", async () => {
  const model = scriptedModel([toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]), reply("It rains.")]);
  const { client } = responding(model, { tools: [weather] });
  const stream = client.responses.stream({ model: "any", input: "Oslo?" });
  const types = new Set<string>();
  for await (const event of stream) types.add(event.type);
  const response = await stream.finalResponse();
  expect(response.output.map(({ type }) => type)).toEqual(["mcp_call", "message"]);
  expect(response.output[0]).toMatchObject({ name: "weather", output: "Rain in Oslo", error: null });
  expect(types.has("response.mcp_call.completed")).toBe(true);
  expect((await client.responses.retrieve(response.id)).output.map(({ id }) => id)).toEqual(
    response.output.map(({ id }) => id),
  );
});

test("an approval ends the response, and its answer goes on", async () => {
  const model = scriptedModel([toolCalls([{ name: "refund", arguments: { order: "A1" } }]), reply("Done.")]);
  const { client } = responding(model, { tools: [refund] });
  const first = await client.responses.create({ model: "any", input: "Refund A1" });
  const [request] = first.output;
  expect(request).toMatchObject({ type: "mcp_approval_request", name: "refund", arguments: '{"order":"A1"}' });
  const second = await client.responses.create({
    model: "any",
    previous_response_id: first.id,
    input: [approvalOf(request?.id ?? "", true)],
  });
  expect(second.output.map(({ type }) => type)).toEqual(["mcp_call", "message"]);
  expect(second.output_text).toBe("Done.");
  model.assertComplete();
});

test("a text instead of the outputs settles the calls as interrupted, and is a new turn", async () => {
  const model = scriptedModel([toolCalls([{ name: "look_up", arguments: { id: "7" } }]), reply("Never mind then.")]);
  const { client } = responding(model);
  const first = await client.responses.create({ model: "any", input: "Who is 7?", tools: [lookUp] });
  const second = await client.responses.create({ model: "any", input: "Never mind", previous_response_id: first.id });
  expect(second.output_text).toBe("Never mind then.");
  expect(second.id).toMatch(/^resp_2_1_/u);
  model.assertComplete();
});

test("what is not to be stored is answered, and is nowhere afterwards", async () => {
  const model = scriptedModel([reply("Secret."), reply("Both.")]);
  const { client, host } = responding(model);
  const response = await client.responses.create({ model: "any", input: "Tell", store: false });
  expect(response.output_text).toBe("Secret.");
  expect(response).toMatchObject({ store: false });
  expect((await host.threads()).threads).toEqual([]);
  await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
});
