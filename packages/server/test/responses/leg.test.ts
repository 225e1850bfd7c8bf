import { expect, test } from "vitest";
import { Leg } from "../../src/responses/leg.ts";

/** Makes a response with so many events, of which the first two say that it began. */
const legOf = (events: number): Leg => {
  const leg = new Leg({ place: { threadId: "t", turn: 1, leg: 1 }, echo: {}, createdAt: 0 });
  for (let number = 2; number < events; number++) leg.log.add({ type: "response.output_text.delta", delta: "x" });
  return leg;
};

/** Returns the numbers of the events of each piece of a stream. */
const numbersIn = async (blocks: AsyncIterable<string> | null): Promise<readonly (readonly number[])[]> => {
  const pieces: number[][] = [];
  for await (const piece of blocks ?? [])
    pieces.push(Array.from(piece.matchAll(/"sequence_number":(\d+)\}$/gmu), ([, number]) => Number(number)));
  return pieces;
};

const upTo = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

test("a response sends its events in pieces of at most 64", async () => {
  const leg = legOf(130);
  leg.log.end();
  expect(await numbersIn(leg.blocks(0))).toEqual([upTo(0, 64), upTo(64, 128), upTo(128, 130)]);
  expect(await numbersIn(leg.blocks(129))).toEqual([[129]]);
  expect(await numbersIn(leg.blocks(130))).toEqual([]);
  expect(leg.blocks(131)).toBeNull();
});

test.each([
  [2, 0],
  [64, 0],
  [65, 1],
  [130, 66],
])("a response with %i events that is trimmed keeps those from %i on", async (events, first) => {
  const leg = legOf(events);
  const reader = leg.log.read(0);
  for (let read = 0; read < events; read += 64) await reader.next();
  leg.log.trim();
  leg.log.end();
  expect(leg.blocks(first - 1)).toBeNull();
  expect(await numbersIn(leg.blocks(first))).toEqual([upTo(first, events)]);
});

test("a response counts the characters of its events as they come and go", () => {
  const leg = legOf(2);
  const grown: number[] = [];
  leg.log.countBy((characters) => grown.push(characters));
  leg.log.add({ type: "a" });
  const size = 'event: a\ndata: {"type":"a","sequence_number":2}'.length;
  expect(grown.slice(1)).toEqual([size]);
  leg.log.lose();
  leg.log.add({ type: "b" });
  leg.log.lose();
  expect(grown.slice(2)).toEqual([-(grown[0] ?? 0) - size]);
});

test("a reader of a response that failed learns why, and so does one that waits for an event", async () => {
  const leg = legOf(2);
  const reader = leg.log.read(0);
  await reader.next();
  const waiting = reader.next();
  leg.fail(new Error("the store failed"));
  leg.log.lose();
  await expect(waiting).rejects.toThrow("the store failed");
  await expect(leg.log.read(0).next()).rejects.toThrow("the store failed");
  await expect(leg.ended).rejects.toThrow("the store failed");
});

test("a reader of a response whose events were dropped is told to read it again", async () => {
  const leg = legOf(130);
  const reader = leg.log.read(0);
  const slow = leg.log.read(0);
  await reader.next();
  leg.log.trim();
  await expect(slow.next()).rejects.toThrow("read it again");
  await expect(reader.next()).rejects.toThrow("read it again");
  leg.log.lose();
  await expect(leg.log.read(100).next()).rejects.toThrow("read it again");
});

test("a reader can't begin after events that no client has read here", async () => {
  const leg = legOf(3);
  expect([leg.blocks(0) === null, leg.blocks(1) === null]).toEqual([false, true]);
  await leg.log.read(0).next();
  expect([leg.blocks(3) === null, leg.blocks(4) === null]).toEqual([false, true]);
});

test("each reader that waits is sent each event when it comes, and learns of the end", async () => {
  const leg = legOf(2);
  const readers = [leg.log.read(0), leg.log.read(0)];
  const all = () => Promise.all(readers.map((reader) => reader.next()));
  await all();
  const waiting = all();
  leg.log.add({ type: "response.output_text.delta", delta: "x" });
  for (const { value } of await waiting) expect(value).toContain('"sequence_number":2');
  const last = all();
  leg.log.end();
  expect((await last).map(({ done }) => done)).toEqual([true, true]);
});
