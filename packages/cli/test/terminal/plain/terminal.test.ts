import { messagesOf, textOf } from "@colloquy/machine";
import { fails, never, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { wantsColour } from "../../../src/terminal/index.ts";
import { hold } from "./conversation.ts";

const controlC = "\u0003";
const controlD = "\u0004";

// On a dumb terminal readline cannot recall earlier lines.
beforeEach(() => void vi.stubEnv("TERM", "xterm"));
afterEach(() => void vi.unstubAllEnvs());

test("Ctrl+C cancels an answer, of which what was shown is kept, and the conversation goes on", async () => {
  const model = scriptedModel([never({ pieces: ["Once upon a time"] }), reply("The end.")]);
  const { host, input, outcome, until } = hold(model, { isTerminal: true });
  await until("> ");
  input.write("A story.\r");
  await until("Once upon a time");
  input.write(controlC);
  await until("cancelled\n");
  input.write("Shorter.\r");
  await until("The end.\n(");
  input.write(controlD);
  expect((await outcome).failures).toBe(0);
  const state = await host.thread("here").state();
  const said = state === null ? [] : messagesOf(state);
  expect(said.map((message) => [textOf(message), message.incomplete])).toEqual([
    ["A story.", undefined],
    ["Once upon a time", true],
    ["Shorter.", undefined],
    ["The end.", undefined],
  ]);
});

test.each([
  ["Ctrl+C", controlC],
  ["Ctrl+D", controlD],
  ["/quit", "/quit\r"],
])("%s at the prompt ends the conversation", async (_, typed) => {
  const { input, outcome, until, written } = hold(scriptedModel([]), { isTerminal: true });
  await until("> ");
  input.write(typed);
  expect(await outcome).toMatchObject({ threadId: "here", failures: 0 });
  expect(written().endsWith("\n")).toBe(true);
});

test("text typed during an answer appears only at the next prompt", async () => {
  const model = scriptedModel([reply("The first.", { delayMs: 100 }), reply("The second."), reply("The third.")]);
  const { clock, input, outcome, until, written } = hold(model, { isTerminal: true });
  await until("> ");
  input.write("One?\r");
  await until("One?\r\n");
  input.write("Two?\rThr");
  await clock.advance(100);
  await until("The second.");
  await until("> Thr");
  input.write("ee?\r");
  await until("The third.");
  input.write(controlD);
  await outcome;
  expect(written()).toContain("One?\r\nThe first.\n(0.1 s, 1 step, ? tokens)\n> Two?\nThe second.\n(");
  expect(written().indexOf("Thr")).toBeGreaterThan(written().indexOf("The second."));
  expect(model.calls.map(({ messages }) => textOf(messages.at(-1) ?? fail()))).toEqual(["One?", "Two?", "Three?"]);
});

test("colours mark what is not the answer", async () => {
  const model = scriptedModel([fails({ kind: "auth" })]);
  const { input, outcome, until, written } = hold(model, { isTerminal: true, colour: true });
  await until("> ");
  input.write("Hi\r");
  await until("error: ");
  input.write(controlD);
  await outcome;
  expect(written()).toContain("\u001b[31merror: the model call failed (auth)");
});

test("there are colours only on a terminal, and not against NO_COLOR", () => {
  expect(wantsColour(true, {})).toBe(true);
  expect(wantsColour(true, { NO_COLOR: "" })).toBe(true);
  expect(wantsColour(true, { NO_COLOR: "1" })).toBe(false);
  expect(wantsColour(false, {})).toBe(false);
});

const fail = (): never => {
  throw new Error("an empty prompt");
};
