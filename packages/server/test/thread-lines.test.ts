import { expect, test, vi } from "vitest";
import { serverContextOf } from "../src/http/server-options.ts";

test("the requests that change a thread run one after the other, also after one that failed, and nothing of them is kept", async () => {
  const { lines } = serverContextOf({ authenticate: () => null });
  const sets = vi.spyOn(Map.prototype, "set");
  const log: string[] = [];
  const slow = Promise.withResolvers<void>();
  const request = (name: string, over: Promise<void> = Promise.resolve()): Promise<void> =>
    lines.next("t", async () => {
      log.push(`${name} begins`);
      await over;
      log.push(`${name} ends`);
    });
  const first = request("first");
  const second = request("second", slow.promise);
  await first;
  const third = request("third");
  const other = lines.next("other", async () => log.push("another thread does not wait"));
  await other;
  slow.resolve();
  const failing = lines.next("t", () => Promise.reject(new Error("it failed")));
  await expect(failing).rejects.toThrow("it failed");
  await Promise.all([second, third, request("last")]);
  expect(log).toEqual([
    "first begins",
    "first ends",
    "second begins",
    "another thread does not wait",
    "second ends",
    "third begins",
    "third ends",
    "last begins",
    "last ends",
  ]);
  const kept = sets.mock.contexts.filter((map) => map instanceof Map && (map.has("t") || map.has("other")));
  sets.mockRestore();
  expect(kept).toEqual([]);
});
