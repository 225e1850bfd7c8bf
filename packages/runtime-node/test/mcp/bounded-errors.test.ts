import { expect, test } from "vitest";
import { boundedFetch } from "../../src/mcp/transport.ts";

test.each([400, 500])(
  "an error %i of an MCP server without an end is read to a bound, and cancelled",
  async (status) => {
    let taken = 0;
    let cancelled = false;
    const endless = (): ReadableStream<Uint8Array<ArrayBuffer>> =>
      new ReadableStream(
        {
          pull: (controller) => {
            taken += 1000;
            controller.enqueue(new TextEncoder().encode("x".repeat(1000)));
          },
          cancel: () => void (cancelled = true),
        },
        { highWaterMark: 0 },
      );
    const bounded = boundedFetch(async () => new Response(endless(), { status, headers: { "x-id": "7" } }));
    const response = await bounded("http://127.0.0.1:1/mcp");
    expect(await response.text()).toBe("x".repeat(4096));
    expect([response.status, response.headers.get("x-id"), taken, cancelled]).toEqual([status, "7", 5000, true]);
  },
);

const most = 10_000_000;
const [json, events] = ["application/json", "text/event-stream; charset=utf-8"];

test.each([
  ["a body", json, "x".repeat(most), true],
  ["a body that is larger", json, `${"x".repeat(most)}x`, false],
  ["a body of short lines", json, "\n".repeat(most + 1), false],
  ["a stream whose first line is empty", events, `\n${"x".repeat(most)}`, false],
  ["an event behind another", events, `data: x\r\n\r\ndata: ${"x".repeat(most - 7)}\n`, true],
  ["an event of many lines", events, `data: x\n\n${"data: x\r\n".repeat(most / 8)}`, false],
])("%s of an MCP server is read to ten million bytes", async (_, type, text, isWhole) => {
  const bounded = boundedFetch(async () => new Response(text, { status: 201, headers: { "content-type": type } }));
  const response = await bounded("http://127.0.0.1:1/mcp");
  expect([response.status, response.headers.get("content-type")]).toEqual([201, type]);
  const read = await response.text().then((whole) => (whole === text ? "whole" : "another"), String);
  expect(read).toBe(isWhole ? "whole" : "Error: the server sent more than 10000000 bytes at once");
});

test.each([204, 304, 302])("a response %i of an MCP server stays the same", async (status) => {
  const given = status === 204 ? new Response(null, { status }) : Response.json("x", { status: 200 });
  if (status !== 204) Object.defineProperties(given, { status: { value: status }, ok: { value: false } });
  expect(await boundedFetch(async () => given)("http://127.0.0.1:1/mcp")).toBe(given);
});
