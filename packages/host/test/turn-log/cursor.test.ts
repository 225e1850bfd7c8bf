import type { AskPart } from "@colloquy/host";
import type { RequestApproval } from "@colloquy/machine";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { cursorAt, HandleCursor, LogCursor, placeOf } from "../../src/turn-log/cursor.ts";
import { ofJournal, partsMax, TurnLog } from "../../src/turn-log/log.ts";
import { joined } from "../joined.ts";

const text = (words: string, step = 1): AskPart => ({ type: "text.delta", turn: 1, step, attempt: 1, text: words });
const step = (number: number): AskPart => ({ type: "step.started", turn: 1, step: number });
const started: AskPart = { type: "turn.started", turn: 1, askIds: ["a"] };
const ended: AskPart = { type: "turn.ended", turn: 1, status: "completed" };
const partial = (value: string): AskPart => ({ type: "output.partial", turn: 1, step: 1, attempt: 1, value });

const logOf = (...parts: readonly AskPart[]): TurnLog => {
  const log = new TurnLog(1);
  for (const part of parts) log.append(7, part);
  return log;
};

/** Reads all available parts. */
const rest = (cursor: LogCursor, until?: number): readonly AskPart[] => {
  const parts: AskPart[] = [];
  for (let part = cursor.next(until); part !== null; part = cursor.next(until)) parts.push(part);
  return parts;
};

describe("LogCursor", () => {
  test("a cursor starts at the first part, at the newest part, or after it", () => {
    const log = logOf(started, step(1), text("a"));
    const cursors = (["first", "newest", "end"] as const).map((start) => new LogCursor(log, start));
    expect(cursors.map(({ place }) => place)).toEqual([null, null, null]);
    log.append(7, text("b"));
    log.append(7, step(2));
    expect(cursors.map((cursor) => rest(cursor))).toEqual([
      [started, step(1), text("ab"), step(2)],
      [text("ab"), step(2)],
      [text("b"), step(2)],
    ]);
    for (const { place } of cursors) expect(place).toEqual({ turn: 1, epoch: 7, index: 3, offset: 0 });
  });

  test("a cursor reads only the new text of a growing part, and stops at the given limit", () => {
    const log = logOf(text("a"));
    const cursor = new LogCursor(log, "first");
    expect([cursor.next(), cursor.next()]).toEqual([text("a"), null]);
    for (const words of ["b", "c"]) log.append(7, text(words));
    expect([rest(cursor), cursor.place?.offset]).toEqual([[text("bc")], 3]);
    log.append(7, step(2));
    log.append(7, text("d", 2));
    expect([rest(cursor, 1), rest(cursor, 2), rest(cursor)]).toEqual([[], [step(2)], [text("d", 2)]]);
  });

  test("a live cursor reads the newest partial output once, after its text; other cursors read none", () => {
    const log = logOf(text("a"), partial("1"), partial("2"));
    const [live, later] = [new LogCursor(log, "first", true), new LogCursor(log, "first")];
    expect([rest(live), rest(later)]).toEqual([[text("a"), partial("2")], [text("a")]]);
    log.append(7, partial("3"));
    log.append(7, step(2));
    expect([rest(live), rest(later)]).toEqual([[partial("3"), step(2)], [step(2)]]);
    expect(rest(new LogCursor(log, "newest", true))).toEqual([step(2)]);
  });

  test("a cursor at a place that the log does not contain announces a replay and reads from the start", () => {
    const log = logOf(started, text("a"));
    const elsewhere = { turn: 1, epoch: 3, index: 4, offset: 2 };
    const anew = { type: "replay.started", turn: 1, step: 1, synthesised: false };
    const cursor = new LogCursor(log, elsewhere);
    expect(cursor.place).toEqual(elsewhere);
    expect(cursor.next()).toEqual(anew);
    expect(cursor.place).toEqual({ turn: 1, epoch: ofJournal, index: 0, offset: 0 });
    expect(rest(cursor)).toEqual([started, text("a")]);
    const replayed = new TurnLog(1);
    replayed.appendOfJournal(0, { type: "replay.started", turn: 1, step: 1, synthesised: true });
    replayed.appendOfJournal(1, started);
    expect(rest(new LogCursor(replayed, elsewhere)).map(({ type }) => type)).toEqual([
      "replay.started",
      "turn.started",
    ]);
    const empty = new LogCursor(new TurnLog(1), elsewhere);
    expect([empty.next(), empty.place]).toEqual([null, elsewhere]);
    empty.log.append(7, started);
    expect(rest(empty)).toEqual([anew, started]);
  });

  test("a cursor at a place in a text of which the log has less reads only the text after that place", () => {
    const log = logOf(started, text("ab"));
    const cursor = new LogCursor(log, { turn: 1, epoch: 7, index: 1, offset: 3 });
    expect(cursor.next()).toBeNull();
    log.append(7, text("cd"));
    expect(rest(cursor)).toEqual([text("d")]);
  });

  test("a cursor that is too slow reports once how many parts were dropped", () => {
    const log = logOf(text("abc"));
    const [slow, slower, punctual, late] = [1, 2, 3, 4].map(() => new LogCursor(log, "first"));
    expect(slow?.next()).toEqual(text("abc"));
    for (let number = 1; number < partsMax; number++) log.append(7, step(number));
    for (let read = 0; read < partsMax / 2; read++) punctual?.next();
    for (let read = 0; read < partsMax / 2 - 1; read++) late?.next();
    log.append(7, step(partsMax));
    expect(punctual?.next()).toEqual(step(partsMax / 2));
    expect([late?.next(), late?.next()]).toEqual([{ type: "parts.dropped", count: 1 }, step(partsMax / 2)]);
    const last = { turn: 1, epoch: 7, index: partsMax / 2 - 1, offset: 0 };
    const lost = [slow, slower].map((cursor) => [cursor?.next(), cursor?.place]);
    expect(lost.map(([part]) => part)).toEqual(
      [1, 0].map((read) => ({ type: "parts.dropped", count: partsMax / 2 - read })),
    );
    expect(lost.map(([, place]) => place)).toEqual([last, last]);
    expect(slow?.next()).toEqual(step(partsMax / 2));
    const later = slower === undefined ? [] : rest(slower);
    for (const count of [0, 1, 2, partsMax / 2 - 10]) {
      const cursor = new LogCursor(log, { turn: 1, epoch: 7, index: partsMax / 2 - 1 - count, offset: 0 });
      const dropped = count === 0 ? [] : [{ type: "parts.dropped", count }];
      expect([cursor.next(), ...rest(cursor)]).toEqual([...dropped, ...later]);
    }
  });

  const act = fc.oneof(
    fc.record({ type: fc.constant("text"), words: fc.constantFrom("a", "bc", "def") }),
    fc.record({ type: fc.constantFrom("step", "host", "read") }),
  );

  test("a new cursor at a place reads the same parts as the cursor that reached that place", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 20 }), (acts) => {
        const log = new TurnLog(1);
        const cursor = new LogCursor(log, "first");
        const read: AskPart[] = [];
        let [epoch, number] = [1, 1];
        for (const each of acts) {
          if (each.type === "host") epoch++;
          else if (each.type === "step") log.append(epoch, step(++number));
          else if (each.type === "read") read.push(...[cursor.next()].filter((part) => part !== null));
          else if ("words" in each) log.append(epoch, text(each.words, number));
        }
        const { place } = cursor;
        const after = place === null ? [] : rest(new LogCursor(log, place));
        const whole = rest(new LogCursor(log, "first"));
        expect(joined(rest(cursor))).toEqual(joined(place === null ? whole : after));
        expect(joined(place === null ? whole : [...read, ...after])).toEqual(joined(whole));
      }),
    );
  });
});

test("placeOf parses the text of a cursor, and returns null for any other text", () => {
  for (const place of [
    { turn: 1, epoch: 7, index: 0, offset: 12 },
    { turn: 12, epoch: ofJournal, index: 3, offset: 0 },
  ])
    expect(placeOf(cursorAt(place))).toEqual(place);
  expect([cursorAt({ turn: 1, epoch: 7, index: 0, offset: 12 }), placeOf("1.journal.2.3")]).toEqual([
    "1.7.0.12",
    { turn: 1, epoch: ofJournal, index: 2, offset: 3 },
  ]);
  for (const other of ["", "1.2.3", "1.2.3.4.5", "journal.2.3.4", "1.-2.3.4", `${"1".repeat(17)}.2.3.4`, " 1.2.3.4"])
    expect(placeOf(other)).toBeNull();
});

describe("HandleCursor", () => {
  /** Reads to the end. */
  const partsOf = async (cursor: HandleCursor): Promise<readonly AskPart[]> => {
    const parts: AskPart[] = [];
    for (let next = await cursor.next(); next.done !== true; next = await cursor.next()) parts.push(next.value);
    return parts;
  };
  const wait = (until: number): AskPart => ({ type: "wait.started", for: "lease", until });
  const waitEnded: AskPart = { type: "wait.ended" };
  const forked: AskPart = { type: "thread.forked", threadId: "t", turn: 1 };

  test("a handle reads its own parts between those of the log, and the end once the turn has an outcome", async () => {
    const cursor = new HandleCursor();
    cursor.push(forked);
    const log = logOf(started);
    cursor.follow(log, "first");
    log.append(7, step(1));
    cursor.follow(log, "first");
    cursor.push(forked);
    log.append(7, ended);
    for (const part of [forked, started, step(1), forked]) expect((await cursor.next()).value).toEqual(part);
    const last = cursor.next();
    expect(await Promise.race([last, Promise.resolve("not yet")])).toBe("not yet");
    cursor.endTurn({ ...ended, status: "failed" });
    cursor.endTurn(ended);
    cursor.push(forked);
    expect([(await last).value, await partsOf(cursor)]).toEqual([ended, []]);
  });

  test("a handle reports once that it waits for another host's lease, and once that the wait ended", async () => {
    const cursor = new HandleCursor();
    cursor.beginWait(1);
    cursor.beginWait(2);
    cursor.endWait();
    cursor.endWait();
    cursor.beginWait(3);
    cursor.follow(logOf(started, { type: "thread.lost", turn: 1 }, { type: "thread.lost", turn: 1 }), "first");
    cursor.follow(logOf(started), "first");
    cursor.endTurn(ended);
    expect(await partsOf(cursor)).toEqual([
      wait(1),
      waitEnded,
      wait(3),
      waitEnded,
      started,
      { type: "thread.lost", turn: 1 },
      ended,
    ]);
  });

  test("a handle shows that a step is void even if that is the first part that it reads", async () => {
    const lost: AskPart = { type: "thread.lost", turn: 1 };
    const cursor = new HandleCursor();
    cursor.follow(logOf(lost, step(1), lost, ended), "first");
    cursor.endTurn(ended);
    expect(await partsOf(cursor)).toEqual([lost, step(1), lost, ended]);
  });

  test("a handle reports another wait after the first part of its log", async () => {
    const cursor = new HandleCursor();
    cursor.beginWait(1);
    cursor.follow(logOf(started), "first");
    cursor.beginWait(2);
    cursor.endTurn(ended);
    expect(await partsOf(cursor)).toEqual([wait(1), waitEnded, started, wait(2), waitEnded, ended]);
  });

  test("a handle reports the end of a wait at once, and another wait after a part of its own", async () => {
    const cursor = new HandleCursor();
    cursor.beginWait(1);
    cursor.push(forked);
    cursor.beginWait(2);
    cursor.endWait();
    for (const part of [wait(1), waitEnded, forked, wait(2), waitEnded])
      expect((await cursor.next()).value).toEqual(part);
    cursor.endTurn(ended);
    expect(await partsOf(cursor)).toEqual([ended]);
  });

  test("a handle reads the parts before an error, throws the error once, and then ends", async () => {
    const cursor = new HandleCursor();
    const log = logOf(started);
    cursor.follow(log, "first");
    cursor.end(new Error("lost"));
    cursor.end(null);
    cursor.endTurn(ended);
    log.append(7, step(1));
    expect(await cursor.next()).toEqual({ value: started, done: false });
    await expect(cursor.next()).rejects.toThrow("lost");
    expect(await cursor.next()).toEqual({ value: undefined, done: true });
  });

  test("concurrent reads of a handle receive parts in the order of the calls", async () => {
    const cursor = new HandleCursor();
    const waiting = [cursor.next(), cursor.next()];
    const log = logOf(started, step(1));
    cursor.follow(log, "first");
    expect((await Promise.all(waiting)).map(({ value }) => value)).toEqual([started, step(1)]);
    const [later, last] = [cursor.next(), cursor.next()];
    log.append(7, text("a"));
    expect((await later).value).toEqual(text("a"));
    log.append(7, text("b"));
    expect((await last).value).toEqual(text("b"));
    expect(cursor.place).toEqual({ turn: 1, epoch: 7, index: 2, offset: 2 });
  });

  test("a handle with several readers waits only once for the next part of its log", async () => {
    const cursor = new HandleCursor();
    const log = logOf(started);
    cursor.follow(log, "first");
    await cursor.next();
    const waits = vi.spyOn(log, "wakeLater");
    const readers = [cursor.next(), cursor.next()];
    expect(waits).toHaveBeenCalledTimes(1);
    for (const number of [1, 2]) log.append(7, step(number));
    expect((await Promise.all(readers)).map(({ value }) => value)).toEqual([step(1), step(2)]);
  });

  test("a handle that starts at a place reads only the log, from that place on", async () => {
    const cursor = new HandleCursor(false, { turn: 1, epoch: 7, index: 0, offset: 0 });
    expect(cursor.place).toEqual({ turn: 1, epoch: 7, index: 0, offset: 0 });
    cursor.beginWait(1);
    const log = logOf(started, text("a"), partial("1"));
    cursor.follow(log, "first");
    cursor.push(forked);
    log.append(7, ended);
    cursor.endTurn({ ...ended, status: "failed" });
    expect(await partsOf(cursor)).toEqual([text("a"), ended]);
  });

  test("a handle requests a tool result once, and again after its step was lost", async () => {
    const request = (callId: string): AskPart => {
      return { type: "result.requested", turn: 1, step: 1, position: 0, callId, name: "f", arguments: "{}" };
    };
    const lost: AskPart = { type: "thread.lost", turn: 1 };
    const cursor = new HandleCursor();
    cursor.follow(logOf(request("a"), request("a"), request("b"), lost, request("a"), ended), "first");
    cursor.endTurn(ended);
    expect(await partsOf(cursor)).toEqual([request("a"), request("b"), lost, request("a"), ended]);
  });

  test("a handle shows the end of a wait for the model only if the log has it", async () => {
    const cursor = new HandleCursor();
    const waits: AskPart = { type: "wait.started", for: "model", until: null };
    cursor.follow(logOf(waits, text("a"), waits, waitEnded, ended), "first");
    cursor.endTurn(ended);
    expect(await partsOf(cursor)).toEqual([waits, text("a"), waits, waitEnded, ended]);
  });

  test("a live handle shows the start of a turn once, and another handle as often as the log has it", async () => {
    const next: AskPart = { type: "turn.started", turn: 2, askIds: ["a"] };
    const replayed: AskPart = { type: "replay.started", turn: 1, step: 1, synthesised: true };
    const log = logOf(started, step(1), replayed, started, step(1), next, ended);
    const shown = [true, false].map(async (isLive) => {
      const cursor = new HandleCursor(isLive);
      cursor.follow(log, "first");
      cursor.endTurn(ended);
      return partsOf(cursor);
    });
    expect(await Promise.all(shown)).toEqual([
      [started, step(1), replayed, step(1), next, ended],
      [started, step(1), replayed, started, step(1), next, ended],
    ]);
  });

  test("a handle requests each approval once, and all of them again after a replay has begun", async () => {
    const request = (id: string): AskPart => {
      const call = { turn: 1, step: 1, position: 0, callId: "1.1.0", name: "f", arguments: {} };
      const approval = { type: "request_approval", id, because: "declared", ...call } as const;
      // Only its id counts here.
      return { type: "approval.requested", turn: 1, step: 1, request: approval as unknown as RequestApproval };
    };
    const replayed: AskPart = { type: "replay.started", turn: 1, step: 1, synthesised: true };
    const cursor = new HandleCursor();
    cursor.follow(logOf(request("a"), request("b"), request("a"), replayed, request("b"), ended), "first");
    cursor.endTurn(ended);
    expect(await partsOf(cursor)).toEqual([request("a"), request("b"), replayed, request("b"), ended]);
  });
});
