import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import {
  loopbackServer,
  recordedHtml,
  recordedJson,
  recordedNothing,
  type RecordedResponse,
  recordedStream,
} from "../../src/server/index.ts";
import { post, readUntilCut, serverFor } from "./client.ts";
import { runs } from "../../../../test/runs.ts";

const events = 'data: {"choices":[{"delta":{"content":"Zürich 🌧"}}]}\r\n\r\n: comment\n\ndata: [DO';

const answerOf = async (...recorded: readonly RecordedResponse[]): Promise<Response> =>
  post(await serverFor({ recorded }), "{}");

describe("recorded responses", () => {
  it("are sent byte for byte, in order, under any path", async () => {
    const json = '{ "id": "x",\n  "error" : {"code":401} }\n';
    const recorded = [
      recordedJson(json, {
        status: 200,
        headers: { "x-ratelimit-remaining": "7", "Content-Length": "3", Connection: "close" },
      }),
      recordedStream(events, { headers: { "content-length": "3" } }),
      recordedHtml(),
      recordedNothing({ status: 503, headers: { "retry-after": "1", "content-type": null } }),
      recordedJson({ a: [1] }),
    ];
    const server = await serverFor({ recorded });
    const first = await post(server, "not even JSON");
    expect(first.headers.get("x-ratelimit-remaining")).toBe("7");
    expect(await first.text()).toBe(json);
    const second = await post(server, "{}", { path: "/v1/responses" });
    expect(second.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(await second.text()).toBe(events);
    const third = await post(server, "{}");
    expect([third.status, third.headers.get("content-type")]).toEqual([502, "text/html"]);
    const fourth = await post(server, "{}");
    expect([fourth.status, fourth.headers.get("retry-after"), await fourth.text()]).toEqual([503, "1", ""]);
    expect(() => server.assertComplete()).toThrow("1 of 5 recorded responses were not used, from number 5 on");
    expect(await (await post(server, "{}")).text()).toBe('{"a":[1]}');
    server.assertComplete();
    expect(server.requests[0]).toMatchObject({ body: undefined, text: "not even JSON" });
  });

  test.prop([fc.integer({ min: 1, max: 90 }), fc.string({ unit: "binary", maxLength: 60 })], { numRuns: runs(30) })(
    "arrive whole in pieces of any size",
    async (pieceBytes, text) => {
      const body = new TextEncoder().encode(events + text);
      await using server = await loopbackServer({ recorded: [{ ...recordedStream(""), body, pieceBytes }] });
      const received = new Uint8Array(await (await post(server, "{}")).arrayBuffer());
      expect(received).toEqual(body);
    },
  );

  it("leave in pieces that are read one by one", async () => {
    const response = await answerOf(recordedStream("abcdef", { pieceBytes: 4 }));
    const pieces: string[] = [];
    // The built-in type does not know that a body is iterable.
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>)
      pieces.push(Buffer.from(piece).toString());
    expect(pieces).toEqual(["abcd", "ef"]);
  });

  it("break off where they are told to", async () => {
    const reset = answerOf(recordedJson("{}", { fault: { type: "reset" } }));
    await expect(reset).rejects.toThrow("fetch failed");
    for (const recorded of [recordedJson(events), recordedStream(events)]) {
      const cut = await answerOf({ ...recorded, fault: { type: "cut", afterBytes: 9 } });
      const { text, error } = await readUntilCut(cut);
      expect([text, String(error)]).toEqual([events.slice(0, 9), "TypeError: terminated"]);
      const ended = await answerOf({ ...recorded, fault: { type: "end", afterBytes: 9 } });
      expect(await ended.text()).toBe(events.slice(0, 9));
    }
  });

  it("stall after what they are told to send, until the client gives up or the server is closed", async () => {
    const server = await serverFor({ recorded: [recordedStream(events, { fault: { type: "stall", afterBytes: 6 } })] });
    const response = await post(server, "{}");
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("data: ");
    const rest = reader?.read();
    await server.close();
    await expect(rest).rejects.toThrow("terminated");
  });

  it("are missed when there are none left", async () => {
    const server = await serverFor({ recorded: [recordedJson({})] });
    await post(server, "{}");
    const beyond = await post(server, "{}");
    expect([beyond.status, beyond.headers.get("x-should-retry")]).toEqual([500, "false"]);
    expect(await beyond.text()).toContain("request 2 came, and one response was recorded");
    expect(() => server.assertComplete()).toThrow("request 2 came, and one response was recorded");
  });

  it("are refused when they can't be sent", async () => {
    const beyond = await answerOf(recordedJson("{}", { fault: { type: "cut", afterBytes: 3 } }));
    expect(await beyond.text()).toContain("can't cut after 3 bytes: the body has 2");
    const nothing = await answerOf(recordedJson("{}", { pieceBytes: 0 }));
    expect(await nothing.text()).toContain("can't send pieces of 0 bytes");
  });
});
