import type { HubMessage } from "@colloquy/runtime-restate";
import { describe, expect, it } from "vitest";
import { hubMessageIn } from "../src/hub.ts";

const stored: HubMessage = {
  type: "stored",
  entries: [{ decided: { interrupts: true }, seq: 1, event: { type: "ask.received", at: 1, askId: "a", input: "hi" } }],
  parts: [{ turn: 1, part: { type: "turn.started", turn: 1, askIds: ["a"] } }],
};

describe("a message between processes", () => {
  it("is what was sent, in the order of its members", () => {
    const text = JSON.stringify(stored);
    expect(JSON.stringify(hubMessageIn(text))).toBe(text);
  });

  it.each(["", "{}", '{"type":"stored"}', '{"type":"shown","effectId":1,"run":"a","parts":[]}'])(
    "that is invalid gives an error that quotes nothing: %s",
    (text) => {
      expect(hubMessageIn(text)).toEqual(
        new TypeError("the published value is not a message of a hub: do others use its channels?"),
      );
    },
  );
});
