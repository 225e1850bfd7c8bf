import { compactTurns, type Counter, lastTurns, tokenWindow } from "@colloquy/machine/policies";
import type { MachineOptions } from "@colloquy/machine";
import { fails, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { hold } from "./conversation.ts";

/** A character is a token. */
const counter: Counter = {
  name: "characters",
  version: 1,
  options: {},
  countPart: (part) => (part.type === "text" ? part.text.length : 0),
  perMessage: 0,
  perPrompt: 0,
};

const bounded: MachineOptions = { counter, budget: { tokens: 100, reserve: 20 } };

const said = async (lines: readonly string[], script: Parameters<typeof scriptedModel>[0], machine: MachineOptions) => {
  const { input, outcome, written } = hold(scriptedModel(script), { machine });
  input.end(lines.map((line) => `${line}\n`).join(""));
  return { failures: (await outcome).failures, written: written() };
};

test("a window that fills up is told once, and again when it is full", async () => {
  const machine = { ...bounded, policy: tokenWindow() };
  const answers = ["a".repeat(60), "b", "c", "d"].map((text) => reply(text));
  const { written } = await said(["12", "34", "56", "7890123456789"], answers, machine);
  expect(written).toContain("> 34\n  the model's window is filling up: 3 messages, about 64 tokens of 80 tokens\nb\n(");
  expect(written).toContain("> 56\nc\n(");
  expect(written).toMatch(
    /the model's window is full \(7 messages, about \d+ tokens of 80 tokens\): what is older is left out, shortened or summed up\nd\n/,
  );
});

test("a prompt that does not fit gets an error with a remedy", async () => {
  const { written, failures } = await said(["a".repeat(90)], [], bounded);
  expect(failures).toBe(1);
  expect(written).toContain(
    "error: the model's window has room for 80 tokens, and this would take 90 tokens; ask for less, or /clear to begin anew\n",
  );
});

test("a summary that an answer waits for is told, and so is one that fails", async () => {
  const machine = {
    ...bounded,
    policy: compactTurns({ keepTurns: 0, maxTokens: 20, requestTokens: 4_000 }),
    retry: { attempts: 1 },
  };
  const [long, next] = ["a".repeat(50), "b".repeat(35)];
  const summed = await said(["1", next], [reply(long), reply("As."), reply("ok")], machine);
  expect(summed.written).toMatch(/\n  summing up turn 1 …\nok\n/);
  const failing = [reply(long), fails({ kind: "bad_request" }), reply("ok"), reply("As.")];
  const failed = await said(["1", next], failing, machine);
  expect(failed.written).toMatch(/\n  turn 1 could not be summed up: .*\n/);
  expect(failed.written).toContain("\nok\n");
  expect([summed.failures, failed.failures]).toEqual([0, 0]);
});

test("/context tells what the next question would show", async () => {
  const machine = { ...bounded, policy: lastTurns(1) };
  const { written, failures } = await said(["/context", "1", "2", "/context"], [reply("one"), reply("two")], machine);
  expect(failures).toBe(0);
  expect(written).toContain("> /context\nnothing was said yet\n");
  expect(written).toMatch(/\n +1 +1\.0 +user +1 +out .*\n(.*\n)+ +2 +2\.0 +user +2 +whole /);
  expect(written).toContain("\nprompt   4 tokens of 80 (5 %), fits; ");
});
