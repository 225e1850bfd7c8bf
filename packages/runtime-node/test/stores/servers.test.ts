import { afterEach, describe, expect, test, vi } from "vitest";

import { answerInTime, fetchedSnapshot, fromStorable, toStorable, untilDone } from "../../src/stores/servers.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("access to a store's server", () => {
  test("answerInTime reports a silent server as unreachable after its time limit, and no sooner", async () => {
    vi.useFakeTimers();
    const outcomes: unknown[] = [];
    const silent = new Promise<never>(() => {});
    const asked = answerInTime(50, silent, "the store").catch((error: unknown) => outcomes.push(error));
    await vi.advanceTimersByTimeAsync(49);
    expect(outcomes).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await asked;
    expect(outcomes).toEqual([
      expect.objectContaining({ kind: "unreachable", message: expect.stringContaining("50 ms") }),
    ]);
  });

  test("answerInTime leaves no timer after an answer, and sets none without a limit", async () => {
    vi.useFakeTimers();
    expect(await answerInTime(50, Promise.resolve(1), "s")).toBe(1);
    await expect(answerInTime(50, Promise.reject(new Error("no")), "s")).rejects.toThrow("no");
    const unlimited = answerInTime(Infinity, new Promise<never>(() => {}), "s");
    expect([vi.getTimerCount(), unlimited]).toEqual([0, expect.any(Promise)]);
  });

  test("untilDone runs the set-up once for concurrent calls, and again after a failure", async () => {
    const work = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("down")).mockResolvedValue();
    const setUp = untilDone(work);
    const both = [setUp(), setUp()];
    for (const call of both) await expect(call).rejects.toThrow("down");
    expect(work).toHaveBeenCalledTimes(1);
    await Promise.all([setUp(), setUp()]);
    await setUp();
    expect(work).toHaveBeenCalledTimes(2);
  });

  test.each([
    ["plain", "plain"],
    ["", ""],
    ["a\0b", '\u0001"a\\u0000b"'],
    ["\ud800", '\u0001"\\ud800"'],
    ["\u0001", '\u0001"\\u0001"'],
    ["a\u0001", "a\u0001"],
  ])("toStorable encodes the text %j as %j, and fromStorable decodes it", (text, stored) => {
    expect(toStorable(text)).toBe(stored);
    expect(fromStorable(stored)).toBe(text);
  });

  test("fetchedSnapshot asks the server for missing chunks by their stored names", async () => {
    const asked: unknown[] = [];
    const snapshot = fetchedSnapshot(toStorable("head\0"), (id, known) => {
      asked.push([id, ...known]);
      return Promise.resolve(id === null ? [["b", "B"]] : [[id, toStorable("A\0")]]);
    });
    expect([snapshot.head, snapshot.chunk("a\0")]).toEqual(["head\0", undefined]);
    await snapshot.fetch?.("a\0");
    await snapshot.fetch?.(null);
    expect([snapshot.chunk("a\0"), snapshot.chunk("b")]).toEqual(["A\0", "B"]);
    expect(asked).toEqual([[toStorable("a\0")], [null, toStorable("a\0")]]);
  });
});
