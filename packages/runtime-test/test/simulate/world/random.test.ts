import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { Random } from "../../../src/simulate/world/world.ts";

const drawn = (random: Random, count: number): readonly number[] => Array.from({ length: count }, () => random.next());

describe("Random", () => {
  test.prop([fc.maxSafeNat(), fc.string()])("draws the same again from the same seed and label", (seed, label) => {
    expect(drawn(new Random(seed, label), 20)).toEqual(drawn(new Random(seed, label), 20));
  });

  it("draws other numbers from another seed, or under another label", () => {
    const seeds = [0, 1, 2, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER];
    const streams = seeds.flatMap((seed) =>
      ["model", "world"].map((label) => drawn(new Random(seed, label), 3).join()),
    );
    expect(new Set(streams).size).toBe(streams.length);
  });

  it("spreads evenly over a range, both ends included", () => {
    const random = new Random(7, "even");
    const counts = new Map<number, number>();
    for (let draw = 0; draw < 6_000; draw++) {
      const value = random.whole(-1, 4);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    expect([...counts.keys()].sort((one, other) => one - other)).toEqual([-1, 0, 1, 2, 3, 4]);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it("draws nothing for a chance of 0, so that a fault that is off moves nothing", () => {
    const [with0, without] = [new Random(3, "off"), new Random(3, "off")];
    expect(with0.chance(0)).toBe(false);
    expect(drawn(with0, 5)).toEqual(drawn(without, 5));
  });
});
