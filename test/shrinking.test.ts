import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const tenSeconds = 10_000;

test("the smallest case of a property that fails is looked for for a minute", () => {
  let runs = 0;
  const property = fc.property(fc.array(fc.nat(), { minLength: 100 }), () => {
    runs++;
    vi.advanceTimersByTime(tenSeconds);
    return false;
  });
  expect(fc.check(property)).toMatchObject({ failed: true, interrupted: true, numShrinks: 6 });
  expect(runs).toBe(7);
});

test("and so is that of one that is asynchronous", async () => {
  const property = fc.asyncProperty(fc.array(fc.nat(), { minLength: 100 }), async () => {
    vi.advanceTimersByTime(tenSeconds);
    return Promise.resolve(false);
  });
  expect(await fc.check(property)).toMatchObject({ failed: true, interrupted: true, numShrinks: 6 });
});

test("a property that holds tries all of its cases, however long they take", () => {
  const property = fc.property(fc.nat(), (number) => {
    vi.advanceTimersByTime(tenSeconds);
    fc.pre(number % 2 === 0);
  });
  expect(fc.check(property, { numRuns: 20 })).toMatchObject({ failed: false, interrupted: false, numRuns: 20 });
});
