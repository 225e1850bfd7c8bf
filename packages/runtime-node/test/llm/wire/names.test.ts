import { describe, expect, test } from "vitest";
import { callIdOnWire, messageNameOnWire, nameOnWire, SeenIds } from "../../../src/llm/wire/names.ts";

const plain = "^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$";

describe("the name of a tool on the wire", () => {
  test.each([
    ["look", "look"],
    ["x".repeat(64), "x".repeat(64)],
    ["look around", expect.stringMatching(/^look_around_[a-zA-Z0-9]{8}$/)],
    ["1st", expect.stringMatching(/^_1st_[a-zA-Z0-9]{8}$/)],
    ["größe", expect.stringMatching(/^gr__e_[a-zA-Z0-9]{8}$/)],
    ["a😀b", expect.stringMatching(/^a_b_[a-zA-Z0-9]{8}$/)],
    ["", expect.stringMatching(/^__[a-zA-Z0-9]{8}$/)],
    ["x".repeat(65), expect.stringMatching(/^x{55}_[a-zA-Z0-9]{8}$/)],
  ])("of %j is %s", (name, expected) => {
    expect(nameOnWire(name, plain)).toEqual(expected);
    expect(nameOnWire(name, plain)).toMatch(new RegExp(plain, "u"));
  });

  test("differs for two names that are cut to the same one", () => {
    const names = ["look around", "look.around", "look/around"];
    expect(new Set(names.map((name) => nameOnWire(name, plain))).size).toBe(3);
  });
});

describe("the name of a speaker on the wire", () => {
  test.each<[string, string | null, string | undefined]>([
    ["Ann", plain, "Ann"],
    ["Ann Lee", plain, "Ann_Lee"],
    ["x".repeat(70), plain, "x".repeat(64)],
    ["<>", plain, undefined],
    ["_", plain, undefined],
    ["Ann", null, undefined],
  ])("of %j under %s is %s", (name, pattern, expected) => {
    expect(messageNameOnWire(name, pattern)).toBe(expected);
  });
});

describe("the id of a call on the wire", () => {
  const nine = "^[a-zA-Z0-9]{9}$";
  const any = "^.+$";

  test("is the provider's, or else made of the machine's, and never twice", () => {
    const ids = new SeenIds();
    expect(callIdOnWire(ids, "c", "1.1.0", any)).toBe("c");
    expect(callIdOnWire(ids, "c", "1.1.0", any)).toBe("call_1_1_0");
    const third = callIdOnWire(ids, "c", "1.1.0", any);
    expect(third).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(callIdOnWire(ids, "c", "1.1.0", any)).toBe(`call_${third}`);
    expect(callIdOnWire(ids, null, "1.1.1", any)).toBe("call_1_1_1");
    expect(callIdOnWire(ids, "", "1.1.2", any)).toBe("call_1_1_2");
  });

  test("matches the pattern, and is the same for the same call", () => {
    const made = () => callIdOnWire(new SeenIds(), "call_1", "1.1.0", nine);
    expect(made()).toMatch(new RegExp(nine));
    expect(made()).toBe(made());
    expect(callIdOnWire(new SeenIds(), "call_1", "1.1.1", nine)).not.toBe(made());
    const ids = new SeenIds();
    const first = callIdOnWire(ids, null, "1.1.0", nine);
    expect(callIdOnWire(ids, null, "1.1.0", nine)).not.toBe(first);
  });

  test("is made, even under a pattern that no id matches", () => {
    expect(callIdOnWire(new SeenIds(), "c", "1.1.0", "^$")).toMatch(/^[a-zA-Z0-9]{9}$/);
  });

  test("is not one that a prompt before had, which learns nothing of later ones", () => {
    const before = new SeenIds();
    expect([before.add("a"), before.add("a")]).toEqual([true, false]);
    const [one, other] = [new SeenIds(before), new SeenIds(before)];
    expect([one.add("a"), one.add("b"), one.add("b")]).toEqual([false, true, false]);
    expect([other.add("b"), before.add("b")]).toEqual([true, true]);
  });
});
