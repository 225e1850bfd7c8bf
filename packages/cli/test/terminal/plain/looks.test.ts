import { tool } from "@colloquy/host";
import { fails, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { afterEach, expect, test, vi } from "vitest";
import { Printer } from "../../../src/terminal/text/printer.ts";
import { hold, Written } from "./conversation.ts";

afterEach(() => void vi.unstubAllEnvs());

const look = tool({
  name: "look",
  description: "Looks.",
  input: { jsonSchema: { type: "object" } },
  approval: "always",
  run: async () => "sky",
});

const looking = () =>
  scriptedModel([
    toolCalls([{ name: "look", arguments: { at: "x".repeat(200) } }], { content: "Let me see." }),
    reply("Blue."),
  ]);

test("for those who hear it, words say who speaks and what each thing is, and the end is heard", async () => {
  vi.stubEnv("TERM", "xterm");
  const { input, outcome, until, written } = hold(looking(), {
    isTerminal: true,
    labels: true,
    machine: { tools: [look.declaration] },
    tools: [look],
  });
  await until("You: ");
  input.write("What colour?\r");
  await until("y runs it");
  input.write("y\r");
  await until("\u0007");
  input.end("\u0004");
  await outcome;
  const text = written();
  const places = ["You: ", "Agent:\nLet me see.", "Tool: look ", "Approval: look ", "Agent:\nBlue.", "\u0007"].map(
    (each) => text.indexOf(each),
  );
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(places).not.toContain(-1);
  expect(text.match(/Blue\./g)).toHaveLength(1);
  expect(text).not.toContain("> ");
});

const detailOf = async (detail: "none" | "some" | "all"): Promise<string> => {
  const { input, outcome, written } = hold(looking(), { detail });
  input.end("What colour?\n");
  await outcome;
  return written();
};

test("beside answers it shows nothing, a summary of events, or all of them", async () => {
  const [none, some, all] = await Promise.all([detailOf("none"), detailOf("some"), detailOf("all")]);
  expect(none).toContain("Let me see.\nBlue.\n");
  expect(none).not.toContain("look ");
  expect(some).toMatch(/ {2}look \{"at":"x+…/);
  expect(all).toContain(`look {"at":"${"x".repeat(200)}"}`);
  expect(none).not.toContain("2 steps)\n");
  expect(some).toMatch(/\(.*2 steps, .*\)\n/);
});

test("nothing but answers is on the output where errors have another place, and limits are counted", async () => {
  const beside = new Written();
  const model = scriptedModel([reply("One."), fails({ kind: "auth" }), streams(["Two."])]);
  const { input, outcome, written } = hold(model, { errors: new Printer(beside, false) });
  input.end("One?\nTwo?\nThree?\n");
  expect(await outcome).toMatchObject({ failures: 1, limits: 0 });
  expect(written()).toBe("One.\nTwo.\n");
  expect(beside.text).toContain("error: the model call failed (auth)");
  const full = hold(scriptedModel([]), {
    machine: { budget: { tokens: 100, reserve: 99 } },
  });
  full.input.end(`${"word ".repeat(100)}\n`);
  expect(await full.outcome).toMatchObject({ failures: 1, limits: 1 });
});
