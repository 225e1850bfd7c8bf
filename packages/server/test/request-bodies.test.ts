import { expect, test } from "vitest";
import { z } from "zod";
import { HttpError, type Route } from "../src/index.ts";
import { at, errorOf, get, post, serving } from "./serving.ts";

const echo: Route = {
  method: "POST",
  path: "/echo",
  handle: async (call) => Response.json(await call.body(z.strictObject({ text: z.string() }))),
};

/** A request whose body arrives in these pieces, without a length. */
const inPieces = (pieces: readonly Uint8Array[], end: (body: ReadableStreamDefaultController) => void): Request => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      end(controller);
    },
  });
  // Cast: a stream needs `duplex`, which the type lacks.
  const streamed = { body, duplex: "half" } as RequestInit;
  return at("/echo", { method: "POST", ...streamed, headers: { "content-type": "application/json" } });
};

test("a body is read whose characters are cut at any byte", async () => {
  const server = serving({}, echo);
  const bytes = new TextEncoder().encode(JSON.stringify({ text: "é€😀" }));
  const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
  const response = await server.fetch(inPieces(pieces, (body) => body.close()));
  expect(await response.json()).toEqual({ text: "é€😀" });
});

test("a body that ends within a character, or breaks off, is refused", async () => {
  const server = serving({}, echo);
  const half = [new TextEncoder().encode('{"text":"'), Uint8Array.of(0xe2, 0x82)];
  const cut = await server.fetch(inPieces(half, (body) => body.close()));
  expect(await errorOf(cut)).toMatchObject({ status: 400, message: "the body is no UTF-8" });
  const broken = await server.fetch(inPieces([], (body) => body.error(new Error("it is gone"))));
  expect(await errorOf(broken)).toMatchObject({ status: 400, message: "the body broke off" });
});

test("a body of just as many bytes as may be is read, with its length or without, and no larger one", async () => {
  const body = JSON.stringify({ text: "é€😀" });
  const bytes = new TextEncoder().encode(body);
  for (const [bodyBytesMax, status] of [
    [bytes.byteLength, 200],
    [bytes.byteLength - 1, 413],
  ] as const) {
    const server = serving({ bodyBytesMax }, echo);
    const half = bytes.byteLength / 2;
    const pieces = inPieces([bytes.slice(0, half), bytes.slice(half)], (stream) => stream.close());
    for (const request of [pieces, post("/echo", body, { "content-length": `${bytes.byteLength}` })])
      expect((await server.fetch(request)).status).toBe(status);
  }
});

test.each([
  [400, "invalid_request_error"],
  [499, "invalid_request_error"],
  [500, "server_error"],
  [503, "server_error"],
])("an error of the status %i is of the type %s for a client", async (status, type) => {
  const failing = get("/failing", () => Promise.reject(new HttpError(status, "no")));
  const response = await serving({}, failing).fetch(at("/failing"));
  expect([response.status, await response.json()]).toEqual([
    status,
    { error: { message: "no", type, param: null, code: null } },
  ]);
});

test("a body that does not say what it is is refused", async () => {
  const body = new TextEncoder().encode('{"text":"a"}');
  const request = at("/echo", { method: "POST", body });
  expect([request.headers.get("content-type"), (await serving({}, echo).fetch(request)).status]).toEqual([null, 415]);
});
