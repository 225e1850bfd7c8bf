import { ConfigurationError, conversationMachine, type MachineOptions } from "@colloquy/machine";
import { describe, expect, it } from "vitest";

describe("options that can't be meant are refused where the machine is made", () => {
  it.each<readonly [string, unknown, RegExp]>([
    ["another overlap", { overlap: { type: "merge" } }, /overlap\.type is "merge"; it must be one of: reject, queue/],
    [
      "another word for interrupted turns",
      { interrupted: "hide" },
      /interrupted is "hide"; it must be one of: keep, omit/,
    ],
    [
      "another word for unknown tools",
      { unknownTool: "skip" },
      /unknownTool is "skip"; it must be one of: result, ask/,
    ],
    ["a limit that is none", { limits: { turns: 5 } }, /there is no limit "turns"; there are: steps, toolCalls/],
    ["a limit below zero", { limits: { steps: -1 } }, /limit "steps" is -1/],
    ["a word for a flag", { calibrate: "no" }, /calibrate is no; it must be true or false/],
    ["a tool without a name", { tools: [{ name: "" }] }, /a tool is declared without a name/],
  ])("%s", (_, options, message) => {
    // What JavaScript may hand in.
    const make = () => conversationMachine(options as MachineOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });
});
