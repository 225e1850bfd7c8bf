import { expect, test } from "vitest";
import { boundedFetch } from "../../src/mcp/transport.ts";

test("an error of an MCP server without an end is read to a bound, and cancelled", async () => {
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
  const bounded = boundedFetch(async () => new Response(endless(), { status: 500, headers: { "x-id": "7" } }));
  const response = await bounded("http://127.0.0.1:1/mcp");
  expect(await response.text()).toBe("x".repeat(4096));
  expect([response.status, response.headers.get("x-id"), taken, cancelled]).toEqual([500, "7", 5000, true]);
});
