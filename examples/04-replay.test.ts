// A recorded conversation as a test: the machine decides the recording again, without a model or tokens.
// Recordings are journals: `node examples/weather/main.ts --journal > examples/recordings/seattle.jsonl` made this one.
import { readFileSync } from "node:fs";
import { lastTurns } from "@colloquy/machine/policies";
import { journalLines } from "@colloquy/runtime-test/recordings";
import "@colloquy/runtime-test/vitest"; // gives `toReplay`
import { expect, test } from "vitest";
import { weatherMachine } from "./weather/agent.ts";

const text = readFileSync(new URL("recordings/seattle.jsonl", import.meta.url), "utf8");
const journal = journalLines(text);

test("today's agent decides as the recorded one did", () => {
  expect(journal).toReplay(weatherMachine());
});

test("replay finds the first prompt that a forgetful policy would change", () => {
  const forgetful = weatherMachine({ policy: lastTurns(0) });
  expect(() => expect(journal).toReplay(forgetful)).toThrow(
    /entry 5 \(turn 2, step 1\): the prompt: was 6 messages; today 2 messages \(user 1.0: −"/,
  );
});

test("replay finds another system prompt at the first call", () => {
  expect(() => expect(journal).toReplay(weatherMachine(), { system: "You are a pirate." })).toThrow(
    /entry 1 \(turn 1, step 1\): the prompt: .*\(system: −weather agent\. .* \+pirate\.\)/,
  );
});

test("replay finds a limit that would have ended a turn, at the step before", () => {
  expect(() => expect(journal).toReplay(weatherMachine({ limits: { steps: 1 } }))).toThrow(
    /entry 3 \(turn 1, step 1\): the turn: was continued; today it ends: the limit of steps, 1, is reached/,
  );
});
