import { fails, never, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { textOf } from "@colloquy/machine";
import { tool } from "@colloquy/host";
import { expect, test } from "vitest";
import { onScreen } from "./screen.ts";

const look = (run: () => Promise<string>) =>
  tool({ name: "look", description: "Looks.", input: { jsonSchema: { type: "object" } }, run });

const machine = { tools: [{ name: "look", description: "Looks.", parameters: { type: "object" } }] };

test("Enter steers an answer: the model reads it at its next step, and where it did is shown", async () => {
  const seen = Promise.withResolvers<string>();
  const model = scriptedModel([toolCalls([{ name: "look", arguments: {} }]), reply("Red.", { expects: "Not blue." })]);
  const { type, press, until, finished, screen } = onScreen(model, { machine, tools: [look(() => seen.promise)] });
  type("What colour?");
  press("enter");
  await until("○ look {}");
  type("Not blue.");
  press("enter");
  await until("> Not blue.  (sent: the model reads it at its next step)");
  seen.resolve("sky");
  await until("Agent (");
  expect(finished()).toContain("  └ sky\n\n> Not blue.\n  read within the turn that was open\nRed.\nAgent (");
  expect(screen()).not.toContain("sent:");
  model.assertComplete();
});

test("a turn that would end goes on with what was sent into it", async () => {
  const model = scriptedModel([streams(["One ", { text: "two.", delayMs: 100 }]), reply("Three.")]);
  const { type, press, until, clock, finished } = onScreen(model);
  type("Count.");
  press("enter");
  await until("One");
  type("On.");
  press("enter");
  await until("sent:");
  await clock.advance(100);
  await until("Agent (");
  expect(finished()).toContain("One two.\n\n> On.\n  read within the turn that was open\nThree.\nAgent (");
});

test("what was sent into a turn that ends before the model reads it comes back into the input", async () => {
  const model = scriptedModel([never({ pieces: ["One "] }), reply("Three.")]);
  const { type, press, until, input, finished } = onScreen(model);
  type("Count.");
  press("enter");
  await until("One");
  type("On.");
  press("enter");
  await until("sent:");
  type("Typed meanwhile");
  press("escape");
  await until("Agent (");
  await until("> On.\n  Typed meanwhile");
  expect(finished()).toContain("> On.\n  the turn ended before the model read it: it is back in the input");
  expect(input()).toBe("> On.\n  Typed meanwhile");
  press("enter");
  await until("Three.\nAgent");
});

test("Tab queues, Up takes back, and what stays is asked next", async () => {
  const model = scriptedModel([reply("One.", { delayMs: 100 }), reply("Two.", { expects: "And two?" })]);
  const { type, press, until, clock, input, status, finished } = onScreen(model);
  type("One?");
  press("enter");
  await until("answers, Esc stops");
  for (const text of ["And two?", "And three?"]) {
    type(text);
    press("tab");
  }
  await until("> And three?  (queued: Up takes it back)");
  expect(status()).toContain("2 queued");
  press("up");
  expect(input()).toBe("> And three?");
  expect(status()).toContain("1 queued");
  await clock.advance(100);
  await until("Two.\nAgent");
  expect(finished()).toContain("\n> And two?\nTwo.");
  expect(input()).toBe("> And three?");
  model.assertComplete();
});

test("where nothing can be sent into a turn, Enter queues", async () => {
  const model = scriptedModel([reply("One.", { delayMs: 100 }), reply("Two.")]);
  const { type, press, until, clock } = onScreen(model, { steers: false });
  type("One?");
  press("enter");
  await until("answers, Esc stops");
  type("Two?");
  press("enter");
  await until("1 queued");
  await clock.advance(100);
  await until("Two.\nAgent");
  expect(model.calls.map(({ messages }) => textOf(messages.at(-1) ?? fail()))).toEqual(["One?", "Two?"]);
});

test("when an answer fails, what was queued comes back into the input", async () => {
  const { type, press, until, clock, input } = onScreen(scriptedModel([fails({ kind: "auth" }, { delayMs: 100 })]));
  type("One?");
  press("enter");
  await until("answers, Esc stops");
  for (const text of ["Two?", "Three?"]) {
    type(text);
    press("tab");
  }
  await clock.advance(100);
  await until("error: ");
  await until("Agent (");
  expect(input()).toBe("> Two?\n  Three?");
});

test("a question that is refused comes back into the input", async () => {
  const { type, press, until, host, input } = onScreen(scriptedModel([]));
  await host.close();
  type("Anybody?");
  press("enter");
  await until("error: ");
  await until("> Anybody?");
  expect(input()).toBe("> Anybody?");
});

test("whenever a text is sent, until the answer has ended and behind that, one thing becomes of it, which is said", async () => {
  const fates = new Set<string>();
  let changes = Infinity;
  for (let moment = 1; moment <= changes; moment++) {
    const model = scriptedModel([
      toolCalls([{ name: "look", arguments: {} }], { content: "Let me see." }),
      streams(["One ", { text: "two.", delayMs: 100 }]),
      reply("On and on."),
    ]);
    const screen = onScreen(model, { machine, tools: [look(async () => "sky")] });
    await screen.until("new thread here");
    screen.type("Count.");
    screen.press("enter");
    let seen = 0;
    screen.conversation.onChange(() => {
      if (++seen !== moment) return;
      queueMicrotask(() => {
        screen.type("On.");
        screen.press("enter");
      });
    });
    await screen.until("One");
    await screen.clock.advance(100);
    await screen.until(/Agent \([^]*turn/);
    if (seen < moment) break;
    await screen.until(/> On\.\n {2}read|> On\.\nOn and on\.\nAgent|back in the input/);
    const fate = /> On\.\n(?: {2}(.*))?/.exec(screen.finished())?.[1] ?? "asked";
    expect(screen.finished().match(/> On\./g)).toHaveLength(1);
    expect(screen.input().includes("On.")).toBe(fate.includes("back in the input"));
    fates.add(fate);
    changes = Math.max(seen, moment);
  }
  expect(fates).toContain("asked");
  expect(fates).toContain("read within the turn that was open");
});

const fail = (): never => {
  throw new Error("an empty prompt");
};
