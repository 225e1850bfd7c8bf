import { createHost, memoryStore } from "@colloquy/runtime-node";
import { type VirtualClock, virtualClock } from "@colloquy/runtime-test";
import { reply, scriptedModel, type ScriptLine, toolCalls } from "@colloquy/runtime-test/models";
import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { ThreadServer } from "../../src/index.ts";
import { errorOf } from "../serving.ts";
import { approvalOf, lookUp, outputOf, refund, respondingOf, streamed, weather } from "./responding.ts";

const hour = 3_600_000;

/** Starts two servers on one store. Time passes only in `within`. */
const twoServers = (script: readonly ScriptLine[]) => {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const llm = scriptedModel(script);
  const [holder, other] = ["holder", "other"].map(() => {
    const host = createHost({ llm, store, clock, tools: [weather, refund] });
    return { host, ...respondingOf(host, { clock }) };
  });
  if (holder === undefined || other === undefined) throw new Error("there are two servers");
  return { clock, llm, holder, other };
};

/** Awaits a promise for two seconds of the clock, much less than the model takes. */
const within = async <Value>(clock: VirtualClock, promise: Promise<Value>): Promise<Value> => {
  let isSettled = false;
  const settled = promise.finally(() => (isSettled = true));
  settled.catch(() => {});
  for (let rounds = 0; !isSettled && rounds < 40; rounds++) await clock.advance(50);
  if (!isSettled) throw new Error("it waits for the model");
  return settled;
};

const requestOf = (path: string, init: RequestInit = {}): Request => new Request(`http://localhost${path}`, init);

/** Returns the first blocks of a stream, up to one with this text. */
const blocksUntil = async (server: ThreadServer, path: string, text: string): Promise<string> => {
  const { body } = await server.fetch(requestOf(path));
  let read = "";
  for await (const chunk of body ?? []) {
    read += new TextDecoder().decode(chunk);
    if (read.includes(text)) return read;
  }
  return read;
};

const asked = { model: "any", input: "Go" } as const;

describe("while the model has said nothing, a server that does not hold the thread", () => {
  const begun = async (script: readonly ScriptLine[] = [reply("At last.", { delayMs: hour })]) => {
    const servers = twoServers(script);
    const { clock, holder } = servers;
    const { id } = await within(clock, holder.client.responses.create({ ...asked, background: true }));
    return { ...servers, id };
  };

  test("lists the input items of a response", async () => {
    const { clock, other, id } = await begun();
    const { data } = await within(clock, other.client.responses.inputItems.list(id));
    expect(data).toMatchObject([{ type: "message", content: [{ text: "Go" }] }]);
  });

  test("streams the answer when it comes", async () => {
    const { clock, other, id } = await begun();
    const events = streamed(other.server, `/v1/responses/${id}?stream=true`);
    for (let minutes = 0; minutes < 61; minutes++) await clock.advance(60_000);
    expect((await events).at(-1)).toMatchObject({
      type: "response.completed",
      response: { output: [{ content: [{ text: "At last." }] }] },
    });
  });

  test("cancels a response at once", async () => {
    const { clock, holder, other, id } = await begun();
    const cancelled = await within(clock, other.client.responses.cancel(id));
    expect(cancelled).toMatchObject({ id, status: "cancelled" });
    expect(await within(clock, holder.client.responses.retrieve(id))).toMatchObject({ id, status: "cancelled" });
  });

  test("refuses to delete a response in progress", async () => {
    const { clock, other, id } = await begun();
    await expect(within(clock, other.client.responses.delete(id))).rejects.toMatchObject({
      code: "response_in_progress",
    });
  });

  test("answers a background response for the holder's conversation at once", async () => {
    const { clock, holder, other } = twoServers([reply("Hello."), reply("At last.", { delayMs: hour })]);
    const first = await within(clock, holder.client.responses.create(asked));
    const more = { ...asked, previous_response_id: first.id, background: true };
    const second = await within(clock, other.client.responses.create(more));
    expect(second).toMatchObject({ status: "in_progress", previous_response_id: first.id });
    expect(await within(clock, holder.client.responses.retrieve(second.id))).toMatchObject({ status: "in_progress" });
    await expect(
      within(clock, other.client.responses.create({ ...asked, previous_response_id: second.id })),
    ).rejects.toMatchObject({ code: "response_in_progress" });
  });

  test.each([
    ["outputs", { name: "look_up", arguments: { id: "7" } }],
    ["an approval", { name: "refund", arguments: { order: "A1" } }],
  ])("takes %s for a response and reads, streams and cancels the one that continues it", async (_, call) => {
    const { clock, holder, other } = twoServers([toolCalls([call]), reply("At last.", { delayMs: hour })]);
    const first = await within(clock, holder.client.responses.create({ ...asked, tools: [lookUp] }));
    const input = first.output.flatMap((item): OpenAI.Responses.ResponseInput =>
      item.type === "function_call" ? [outputOf(item.call_id, "Ada")] : [approvalOf(item.id ?? "", true)],
    );
    const outputs = { model: "any", previous_response_id: first.id, input, background: true };
    const second = await within(clock, other.client.responses.create(outputs));
    expect(second).toMatchObject({ status: "in_progress", previous_response_id: first.id });
    for (const { client, server } of [other, holder]) {
      expect(await within(clock, client.responses.retrieve(second.id))).toMatchObject({ status: "in_progress" });
      const path = `/v1/responses/${second.id}?stream=true`;
      expect(await within(clock, blocksUntil(server, path, "in_progress"))).toContain("response.created");
      await within(clock, client.responses.inputItems.list(second.id));
    }
    expect(await within(clock, other.client.responses.cancel(second.id))).toMatchObject({ status: "cancelled" });
  });

  test("refuses starting_after for events that it has shown nobody, and takes -1", async () => {
    const { clock, holder, other, id } = await begun();
    const path = `/v1/responses/${id}?stream=true&starting_after=`;
    await within(clock, blocksUntil(holder.server, `/v1/responses/${id}?stream=true`, "in_progress"));
    const refused = await within(clock, other.server.fetch(requestOf(`${path}1`)));
    expect(await errorOf(refused)).toMatchObject({ status: 400, code: "events_not_kept" });
    expect(await within(clock, blocksUntil(other.server, `${path}-1`, "in_progress"))).toContain("response.created");
    expect(await within(clock, blocksUntil(other.server, `${path}0`, "in_progress"))).not.toContain("response.created");
  });
});
