import { fails, never, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { type Content, textOf } from "@colloquy/machine";
import { tool } from "@colloquy/host";
import { expect, test } from "vitest";
import { onScreen } from "./screen.ts";

const look = (run: () => Promise<string>) =>
  tool({ name: "look", description: "Looks.", input: { jsonSchema: { type: "object" } }, run });

const machine = { tools: [{ name: "look", description: "Looks.", parameters: { type: "object" } }] };

test("Enter steers an answer: the model reads it at its next step, and where it did is shown", async () => {
  const seen = Promise.withResolvers<string>();
  const model = scriptedModel([toolCalls([{ name: "look", arguments: {} }]), reply("Red.", { expects: "Not blue." })]);
  const { ask, until, finished, screen } = onScreen(model, { machine, tools: [look(() => seen.promise)] });
  await ask("What colour?", "○ look {}");
  await ask("Not blue.", "> Not blue.  (sent: the model reads it at its next step)");
  seen.resolve("sky");
  await until("Agent (");
  expect(finished()).toContain("  └ sky\n\n> Not blue.\n  read within the turn that was open\nRed.\nAgent (");
  expect(screen()).not.toContain("sent:");
  model.assertComplete();
});

test("a turn that would end continues with a message sent into it", async () => {
  const model = scriptedModel([streams(["One ", { text: "two.", delayMs: 100 }]), reply("Three.")]);
  const { ask, until, clock, finished } = onScreen(model);
  await ask("Count.", "One");
  await ask("On.", "sent:");
  await clock.advance(100);
  await until("Agent (");
  expect(finished()).toContain("One two.\n\n> On.\n  read within the turn that was open\nThree.\nAgent (");
});

test("a message that the model did not read before the turn's end returns into the input", async () => {
  const model = scriptedModel([never({ pieces: ["One "] }), reply("Three.")]);
  const { ask, type, press, until, input, finished } = onScreen(model);
  await ask("Count.", "One");
  await ask("On.", "sent:");
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
  const { ask, type, press, until, clock, input, status, finished } = onScreen(model);
  await ask("One?", "answers, Esc stops");
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
  const { ask, until, clock } = onScreen(model, { steers: false });
  await ask("One?", "answers, Esc stops");
  await ask("Two?", "1 queued");
  await clock.advance(100);
  await until("Two.\nAgent");
  expect(model.calls.map(({ messages }) => textOf(messages.at(-1) ?? fail()))).toEqual(["One?", "Two?"]);
});

test("when an answer fails, queued questions return into the input", async () => {
  const { ask, type, press, until, clock, input } = onScreen(
    scriptedModel([fails({ kind: "auth" }, { delayMs: 100 })]),
  );
  await ask("One?", "answers, Esc stops");
  for (const text of ["Two?", "Three?"]) {
    type(text);
    press("tab");
  }
  await clock.advance(100);
  await until("error: ");
  await until("Agent (");
  expect(input()).toBe("> Two?\n  Three?");
});

test("a refused question returns into the input", async () => {
  const { ask, until, host, input } = onScreen(scriptedModel([]));
  await host.close();
  await ask("Anybody?", "error: ");
  await until("> Anybody?");
  expect(input()).toBe("> Anybody?");
});

test("a text sent at any moment of an answer or after it has exactly one outcome, which is shown", async () => {
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
    screen.send("Count.");
    let seen = 0;
    screen.conversation.onChange(() => {
      if (++seen !== moment) return;
      queueMicrotask(() => {
        screen.send("On.");
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

test("files that a text names go along, also into an open turn; for one that can't be read the text is given back", async () => {
  const attachments = {
    contentOf: (text: string): Content => {
      if (text.includes("@lost")) throw new Error("there is no file lost");
      return text.includes("@") ? [{ type: "text", text: `${text} Sheep.` }] : text;
    },
    pathsFrom: (): readonly string[] => [],
  };
  const seen = Promise.withResolvers<string>();
  const model = scriptedModel([
    toolCalls([{ name: "look", arguments: {} }], { expects: "Compare @notes. Sheep." }),
    reply("Both.", { expects: "And @others. Sheep." }),
    reply("Yes."),
  ]);
  const { ask, until, input, press, finished } = onScreen(model, {
    machine,
    tools: [look(() => seen.promise)],
    attachments,
  });
  await ask("Compare @notes.", "○ look {}");
  await ask("Also @lost.", "error: there is no file lost");
  expect(input()).toContain("> Also @lost.");
  press("ctrl+u");
  await ask("And @others.", "sent:");
  seen.resolve("sky");
  await until("Agent (");
  expect(finished()).toContain("> And @others.\n  read within the turn that was open\nBoth.\n");
  await ask("See @lost?", "> See @lost?");
  press("ctrl+u");
  await ask("Well?", "Yes.\nAgent");
  model.assertComplete();
});
