import { virtualClock } from "@colloquy/runtime-test";
import { expect, test } from "vitest";
import { OpenStreams } from "../src/http/event-stream.ts";

const limits = { streamsMax: 3, streamsByPrincipalMax: 2, heartbeatMs: 1_000 };

/** Makes the streams of a server, and records what they report. */
const serving = () => {
  const clock = virtualClock();
  const seen: string[] = [];
  const streams = new OpenStreams(
    limits,
    clock,
    () => void seen.push(`${streams.size} left`),
    (error, requestId) => void seen.push(`${requestId}: ${String(error)}`),
  );
  const controller = new AbortController();
  const take = (principal = "ada") =>
    streams.take(principal, controller.signal, "request 1", () => void seen.push("gone"));
  return { clock, seen, streams, take, disconnect: () => controller.abort() };
};

/** Makes blocks that a test sends one by one. Records when the reader of them stops. */
const blocks = (onStop: () => Promise<unknown> = async () => {}) => {
  const sent: PromiseWithResolvers<IteratorResult<string>>[] = [];
  let [next, stops] = [0, 0];
  const at = (index: number) => (sent[index] ??= Promise.withResolvers<IteratorResult<string>>());
  let taken = 0;
  return {
    send: (value: string) => at(next++).resolve({ value, done: false }),
    end: () => at(next++).resolve({ value: undefined, done: true }),
    fail: (error: Error) => at(next++).reject(error),
    get taken() {
      return taken;
    },
    get stops() {
      return stops;
    },
    iterable: {
      [Symbol.asyncIterator]: (): AsyncIterator<string> => ({
        next: () => at(taken++).promise,
        return: async () => {
          stops++;
          await onStop();
          return { value: undefined, done: true };
        },
      }),
    },
  };
};

const textOf = (read: { readonly value?: Uint8Array | undefined }): string | null =>
  read.value === undefined ? null : new TextDecoder().decode(read.value);

/** Reads a stream one chunk at a time: its text, null at its end, or the text of its error. */
const readerOf = (stream: ReadableStream<Uint8Array>) => {
  const reader = stream.getReader();
  return { read: (): Promise<string | null> => reader.read().then(textOf, String), cancel: () => reader.cancel() };
};

test("a stream has each block with an empty line, takes none before it is read, and is given back once at its end", async () => {
  const { seen, streams, take, clock } = serving();
  const source = blocks();
  const { read } = readerOf(take().run(source.iterable));
  source.send("data: 1");
  source.send("data: 2");
  source.end();
  expect([source.taken, streams.size]).toEqual([0, 1]);
  expect([await read(), source.taken]).toEqual(["data: 1\n\n", 1]);
  expect([await read(), await read(), await read()]).toEqual(["data: 2\n\n", null, null]);
  expect([seen, source.stops, streams.size, clock.pending().length]).toEqual([["0 left"], 0, 0, 0]);
});

test("a stream whose blocks fail breaks off, says nothing of the error, and reports it", async () => {
  const { seen, take } = serving();
  const source = blocks();
  const reader = take().run(source.iterable).getReader();
  source.fail(new Error("a secret"));
  const error: unknown = await reader.read().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: "the stream broke off", stack: "Error: the stream broke off" });
  expect(seen).toEqual(["0 left", "request 1: Error: a secret"]);
});

test.each(["cancels", "disconnects", "has disconnected before"])(
  "a stream of a client that %s stops its blocks, and neither shows nor reports what comes later",
  async (how) => {
    const { seen, streams, take, disconnect, clock } = serving();
    const source = blocks(() => Promise.reject(new Error("it would not stop")));
    if (how.startsWith("has")) disconnect();
    const { read, cancel } = readerOf(take().run(source.iterable));
    const reading = read();
    // The stream takes its first block.
    await clock.advance(1);
    if (how === "cancels") await cancel();
    disconnect();
    streams.endAll();
    disconnect();
    if (source.taken > 0) source.fail(new Error("late"));
    expect([await reading, await read()]).toEqual([null, null]);
    expect(seen).toEqual(["0 left", "gone", "request 1: Error: it would not stop"]);
    expect([source.stops, streams.size, clock.pending().length]).toEqual([1, 0, 0]);
  },
);

test("a server that closes ends its streams, whose clients are not gone", async () => {
  const { seen, streams, take, clock } = serving();
  const [first, second] = [blocks(), blocks()];
  const readers = [first, second].map(({ iterable }) => readerOf(take().run(iterable)));
  const reading = readers.map(({ read }) => read());
  await clock.advance(1);
  streams.endAll();
  first.send("data: late");
  expect(await Promise.all(reading)).toEqual([null, null]);
  second.end();
  await clock.advance(1);
  expect([seen, first.stops, second.stops, streams.size]).toEqual([["1 left", "0 left"], 1, 1, 0]);
});

test("a client that waits gets one comment each interval, one that does not read gets a single one", async () => {
  const { streams, take, clock } = serving();
  const [first, second] = [blocks(), blocks()];
  const waiting = readerOf(take().run(first.iterable));
  const idle = readerOf(take().run(second.iterable));
  expect(clock.pending().length).toBe(1);
  for (let beats = 0; beats < 3; beats++) {
    const reading = waiting.read();
    await clock.advance(999);
    await clock.advance(1);
    expect(await reading).toBe(": ping\n\n");
  }
  second.send("data: 1");
  expect([await idle.read(), await idle.read()]).toEqual([": ping\n\n", "data: 1\n\n"]);
  streams.endAll();
  expect(clock.pending().length).toBe(0);
  const { read } = readerOf(take().run(blocks().iterable));
  for (let beats = 0; beats < 2; beats++) {
    const reading = read();
    await clock.advance(1_000);
    expect(await reading).toBe(": ping\n\n");
  }
});

test("only so many streams are open at once, for each principal and in all, until one is given back", () => {
  const { seen, streams, take } = serving();
  const first = take();
  void take();
  expect(() => take()).toThrow(expect.objectContaining({ status: 429, headers: { "retry-after": "5" } }));
  void take("bob");
  expect(() => take("bob")).toThrow(expect.objectContaining({ status: 503, headers: { "retry-after": "5" } }));
  first.release();
  first.release();
  expect([seen, streams.size]).toEqual([["2 left"], 2]);
  const stream = take();
  void stream.run(blocks().iterable);
  stream.release();
  expect(streams.size).toBe(3);
  streams.endAll();
  expect(streams.size).toBe(2);
});
