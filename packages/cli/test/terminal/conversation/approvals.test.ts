import { createHost, memoryStore, tool } from "@colloquy/host";
import { conversationMachine, type Json } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { Approvals } from "../../../src/terminal/conversation/approvals.ts";
import { type AnswerBlocks, noBlocks } from "../../../src/terminal/conversation/answer-blocks.ts";
import { type NestedApproval, terminalConversation } from "../../../src/terminal/index.ts";
import { textOfLine } from "../../../src/terminal/text/line.ts";
import { onScreen } from "./screen.ts";

const remove = () => {
  const removed: string[] = [];
  const made = tool({
    name: "remove",
    description: "Removes a file.",
    input: { jsonSchema: { type: "object" } },
    approval: "always",
    run: async (input) => {
      removed.push(JSON.stringify(input));
      return "gone";
    },
  });
  return { removed, tools: [made], machine: { tools: [made.declaration] } };
};

const calls = (...files: readonly string[]) =>
  toolCalls(files.map((file) => ({ name: "remove", arguments: { file } })));

test("a call that waits for an approval is shown with its arguments; y runs it", async () => {
  const { removed, ...options } = remove();
  const { ask, type, until, finished, status } = onScreen(scriptedModel([calls("a"), reply("Done.")]), options);
  await ask("Remove a.", '⁇ remove {"file":"a"}');
  expect(status()).toContain("waits for y or n");
  type("y");
  await until("Done.\nAgent");
  expect(finished()).toContain('\n⁇ remove {"file":"a"}\n✓ remove was approved\n● remove\n  └ gone\nDone.');
  expect(removed).toEqual(['{"file":"a"}']);
});

test("a call that would change a file is shown with the difference, once", async () => {
  const { removed: _, ...options } = remove();
  const changeOf = (given: Json) => ({ title: `${JSON.stringify(given)} changes a:`, lines: ["-one", "+two"] });
  const { ask, type, until, finished } = onScreen(scriptedModel([calls("a"), reply("Done.")]), {
    ...options,
    changeOf,
  });
  await ask("Remove a.", "⁇ run remove?");
  type("y");
  await until("Done.\nAgent");
  const call = '⁇ remove {"file":"a"}\n  {"file":"a"} changes a:\n  -one\n  +two\n✓ remove was approved';
  expect(finished().split(call)).toHaveLength(2);
});

test("n denies, with a reason that the model reads; Esc goes back; several are asked one after the other", async () => {
  const { removed, ...options } = remove();
  const model = scriptedModel([
    calls("a", "b"),
    reply("Well.", { expects: (_, call) => JSON.stringify(call.messages).includes("not that one") }),
  ]);
  const { ask, type, press, finished, input } = onScreen(model, options);
  await ask("Remove both.", '⁇ remove {"file":"a"}');
  expect(finished()).not.toContain('"b"');
  type("n");
  expect(input()).toBe("why not? ");
  press("escape");
  expect(input()).toBe("> ");
  type("n");
  await ask("not that one", /✗ remove was denied[^]*⁇ remove {"file":"b"}/);
  await ask("n", "Well.\nAgent");
  expect(finished().match(/was denied/g)).toHaveLength(2);
  expect(removed).toEqual([]);
  model.assertComplete();
});

test("a lets the tool run from here on, and says so", async () => {
  const { removed, ...options } = remove();
  const { ask, type, press, until, input, status } = onScreen(
    scriptedModel([calls("a"), calls("b"), reply("Done.")]),
    options,
  );
  await ask("Remove both.", "⁇ remove");
  type("a");
  expect([input(), status()]).toEqual(["always? ", "Enter runs this tool from here on · Esc goes back"]);
  press("escape");
  for (const typed of ["a", "b"]) type(typed);
  expect(input()).toBe("> b");
  press("backspace");
  await ask("a", "remove runs without a question from here on, as long as this process lives");
  await until("Done.\nAgent");
  expect(removed).toEqual(['{"file":"a"}', '{"file":"b"}']);
});

test("a key in typed text is not an answer", async () => {
  const { removed, ...options } = remove();
  const { send, type, press, until, input } = onScreen(scriptedModel([calls("a"), reply("Done.")]), options);
  send("Remove a.");
  type("wh");
  await until("⁇ remove");
  type("y");
  expect(input()).toBe("> why");
  press("ctrl+c");
  await until("stopped");
  expect(removed).toEqual([]);
});

test("an approval that waited when the thread was opened is asked for", async () => {
  const { removed, machine, tools } = remove();
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const setting = { machine: conversationMachine(machine), store, clock, ids: sequentialIds(), tools };
  const first = createHost({ ...setting, llm: scriptedModel([calls("a")]) });
  const asked = first.ask("Remove a.", { threadId: "here" });
  for await (const part of asked) if (part.type === "approval.requested") break;
  await first.close();
  const host = createHost({ ...setting, llm: scriptedModel([reply("Done.")]) });
  const { type, until, finished } = onScreen(scriptedModel([]), { host });
  await until('⁇ remove {"file":"a"}');
  type("y");
  await until("Done.\nAgent");
  expect(finished()).toContain("> Remove a.\n");
  expect(removed).toEqual(['{"file":"a"}']);
});

test("a key answers what was seen: drawn, and half a second without keys before it", async () => {
  const { removed, ...options } = remove();
  let now = 0;
  const { ask, type, press, until, input, finished } = onScreen(scriptedModel([calls("a", "b"), reply("Done.")]), {
    ...options,
    now: () => now,
  });
  await ask("Remove both.", "⁇ run remove?");
  for (const early of ["y", "n", "a"]) {
    now += 499;
    type(early);
    expect(input()).toBe(`> ${early}`);
    press("backspace");
  }
  now += 500;
  type("y");
  // The next approval appears at once, while the key repeats.
  await until('⁇ remove {"file":"b"}');
  for (const repeated of ["y", "y", "y"]) {
    now += 100;
    type(repeated);
  }
  expect(input()).toBe("> yyy");
  press("ctrl+c");
  await until("stopped");
  expect(removed).not.toContain('{"file":"b"}');
  expect(finished().match(/✓/g)).toHaveLength(1);
});

test("an approval that was not drawn yet is not answered, however long no key came", async () => {
  const { removed, ...options } = remove();
  const host = createHost({
    machine: conversationMachine(options.machine),
    llm: scriptedModel([calls("a"), reply("Done.")]),
    tools: options.tools,
    store: memoryStore({ clock: virtualClock() }),
    clock: virtualClock(),
    ids: sequentialIds(),
  });
  let now = 0;
  const port = {
    suspend: async () => {},
    stop: () => {},
    reprint: () => {},
    copy: (): boolean => false,
    bell: () => {},
  };
  const conversation = terminalConversation({ threadId: "here", host, port, now: () => now, question: "Remove a." });
  const size = { columns: 80, rows: 24 };
  const open = (): string => conversation.shown().open(size).map(textOfLine).join("\n");
  await new Promise<void>((resolve) => conversation.onChange(() => open().includes("⁇ run remove?") && resolve()));
  now += 10_000;
  conversation.press({ type: "text", text: "y" }, size);
  expect(textOfLine(conversation.shown().input(size).lines[0] ?? [])).toBe("> y");
  expect(open()).toContain("⁇ run remove?");
  await host.close();
  expect(removed).toEqual([]);
});

test("an unfinished denial ends with its approval, and later typing is a question", async () => {
  const { removed, ...options } = remove();
  const model = scriptedModel([calls("a"), reply("Hello.")]);
  const { ask, type, press, finished, input } = onScreen(model, options);
  await ask("Remove a.", "⁇ run remove?");
  type("n");
  expect(input()).toBe("why not? ");
  press("ctrl+c");
  expect(input()).toBe("> ");
  await ask("Hello?", "Hello.\nAgent");
  expect(finished()).toContain("⁇ remove was not answered");
  expect(finished()).not.toMatch(/✓|no approval is/);
  expect(removed).toEqual([]);
});

test("y and n answer with the digest of the shown call", async () => {
  const { removed, ...options } = remove();
  const { ask, type, until, host } = onScreen(scriptedModel([calls("a", "b"), reply("Done.")]), options);
  await ask("Remove both.", '⁇ remove {"file":"a"}');
  const shown = (await host.thread("here").approvals()).map(({ digest }) => digest);
  type("y");
  await until('⁇ remove {"file":"b"}');
  await ask("n", "Done.\nAgent");
  const answers = (await host.thread("here").exportJournal()).flatMap(({ event }) =>
    event.type === "approval.answered" ? [event.digest] : [],
  );
  expect(answers).toEqual(shown);
  expect(removed).toHaveLength(1);
});

test("a reason that can no longer be sent returns into the input", async () => {
  const { removed, ...options } = remove();
  const { ask, type, press, until, host, input } = onScreen(scriptedModel([calls("a"), reply("Done.")]), options);
  await ask("Remove a.", "⁇ run remove?");
  type("n");
  type("not here");
  const [request] = await host.thread("here").approvals();
  // Another process answers while the reason is being sent.
  void host.thread("here").approve(request?.id ?? "");
  press("enter");
  await until("Done.\nAgent");
  await until("> not here");
  expect(input()).toBe("> not here");
  expect(removed).toEqual(['{"file":"a"}']);
});

test("what subagents wait for is that of the look that began last, and of none after the end of the answer", async () => {
  const { machine, tools } = remove();
  const model = scriptedModel([calls("a", "b")]);
  const setting = { machine: conversationMachine(machine), store: memoryStore({ clock: virtualClock() }), tools };
  const host = createHost({ ...setting, llm: model, clock: virtualClock(), ids: sequentialIds() });
  let requested = 0;
  for await (const part of host.ask("Remove both.", { threadId: "below" }))
    if (part.type === "approval.requested" && ++requested === 2) break;
  const thread = host.thread("below");
  const waiting = (await thread.approvals()).map((request): NestedApproval => ({ request, thread, by: "helper" }));
  const looks: PromiseWithResolvers<readonly NestedApproval[]>[] = [];
  let look = (): void => {};
  let blocks: AnswerBlocks = noBlocks;
  const approvals = new Approvals({
    nested: {
      onRequest: (listener) => {
        look = listener;
        return () => {};
      },
      waiting: () => {
        const asked = Promise.withResolvers<readonly NestedApproval[]>();
        looks.push(asked);
        return asked.promise;
      },
    },
    thread: () => thread,
    isStopped: () => false,
    change: (changed) => void (blocks = changed(blocks)),
    notice: () => {},
    giveBack: () => {},
  });
  const answered = async (index: number, those: readonly NestedApproval[]): Promise<number> => {
    looks[index]?.resolve(those);
    await looks[index]?.promise;
    await Promise.resolve();
    return blocks.open.length;
  };
  const forget = approvals.follow();
  look();
  look();
  expect(await answered(1, waiting)).toBe(2);
  expect(await answered(0, waiting.slice(1))).toBe(2);
  forget();
  expect(await answered(2, [])).toBe(2);
  await host.close();
});
