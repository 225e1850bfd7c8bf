import { memoryStore, type Store } from "@colloquy/host";
import type { Content } from "@colloquy/machine";
import { openaiChat, systemClock, randomIds, StorageError } from "@colloquy/runtime-node";
import { ruleModel, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer, type LoopbackServer } from "@colloquy/runtime-test/server";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { agentFromFile } from "@colloquy/sessions/agents";
import { hostOfAgent } from "../src/agent-chat.ts";
import { nestedApprovals } from "../src/turn.ts";
import { run } from "./run-command.ts";
import { onScreen } from "./terminal/conversation/screen.ts";
import { testFolder } from "./test-folder.ts";

const { write } = testFolder();

write(
  "mailer.mjs",
  `export const mail = {
  declaration: { name: "mail", description: "Sends.", parameters: { type: "object" }, approval: "always" },
  schema: null, needsApproval: null, run: ({ to }) => "sent to " + to,
};`,
);
write("clerk.md", "---\nname: clerk\ncompression: none\ntools: [./mailer.mjs#mail]\n---\nWrite.\n");
write("head.md", "---\nname: head\ncompression: none\nsubagents: [./clerk.md]\n---\nHave it written.\n");
const agents = {
  "a subagent": write("guide.md", "---\nname: guide\ncompression: none\nsubagents: [./clerk.md]\n---\nAsk.\n"),
  "a subagent of a subagent": write(
    "chief.md",
    "---\nname: chief\ncompression: none\nsubagents: [./head.md]\n---\nAsk the head.\n",
  ),
};

/** Each agent passes its task to the one below it, and the clerk mails. */
const calls = { "Ask the head.": "head", "Ask.": "clerk", "Have it written.": "clerk", "Write.": "mail" } as const;
const model = ruleModel([
  { name: "done", when: ({ last }) => last?.role === "tool", answer: ({ toolResults }) => `${toolResults[0]?.text}.` },
  {
    name: "call",
    when: () => true,
    answer: ({ system, lastUserText }) => {
      const name = calls[system as keyof typeof calls];
      return toolCalls([{ name, arguments: name === "mail" ? { to: lastUserText } : { message: lastUserText } }]);
    },
  },
]);
const server: { current: LoopbackServer | null } = { current: null };
beforeAll(async () => {
  server.current = await loopbackServer({ model });
});
afterAll(() => server.current?.close());

describe.each(Object.entries(agents))("an approval that %s waits for", (_, agent) => {
  const chat = (...args: readonly string[]) =>
    run(
      "chat",
      "--base-url",
      server.current?.url ?? "",
      "--agent",
      agent,
      "--allow-tools",
      "--store",
      `${agent}.db`,
      ...args,
    );

  test("ends one question with 4 and its id, and another run gives it, or denies it", async () => {
    const waiting = await chat("ada", "--output-format", "json");
    expect(waiting.exitCode).toBe(4);
    const { approvals } = JSON.parse(waiting.output) as { approvals: readonly { readonly id: string }[] };
    expect(approvals).toMatchObject([{ name: "mail", arguments: { to: "ada" } }]);
    const [{ id } = { id: "" }] = approvals;
    expect(waiting.error).toContain(`waits for approval: mail {"to":"ada"}, as ${id}\n`);
    // A question meanwhile does not wait.
    expect(await chat("And now?")).toMatchObject({ exitCode: 4, output: "" });
    expect((await chat("--approve", "chat/9.9.0!approval-1")).error).toContain(`there are: ${id}\n`);
    const approved = await chat("--approve", id);
    expect(approved).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^sent to ada\.+\n$/) });
    expect((await chat("bob", "--output-format", "json")).exitCode).toBe(4);
    const denied = await chat("--deny", (await waitingId()) ?? "", "--reason", "not now");
    expect(denied).toMatchObject({ exitCode: 0, output: expect.stringMatching(/not approved: not now/) });
  });

  /** Asks behind the waiting question, and returns the id that the error names. */
  const waitingId = async (): Promise<string | undefined> => /, as (\S+)\n/.exec((await chat("And now?")).error)?.[1];
});

const hostOf = async (agent: string, store: Store, show: (text: string) => void = () => {}) =>
  hostOfAgent(
    await agentFromFile(agent, { allowTools: true }),
    [],
    {
      name: "here",
      model: "any",
      handler: (name) => openaiChat({ baseURL: server.current?.url ?? "", apiKey: "none", model: name }),
    },
    { machine: {}, clock: systemClock, ids: randomIds, store },
    undefined,
    { show: (text) => show(text) },
  );

test.each([
  ["a subagent", "clerk", "clerk"],
  ["a subagent of a subagent", "head/clerk", "head"],
] as const)(
  "%s asks at the terminal: its name is in the question, y runs the call, n does not, a also runs later ones",
  async (kind, by, called) => {
    const chat = await hostOf(agents[kind], memoryStore({ clock: systemClock }), (text) => expect.fail(text));
    const { host } = chat;
    const ask = (input: Content, threadId: string) => chat.ask(input, threadId, {});
    const options = { host, ask, nested: nestedApprovals(chat) };
    const screen = onScreen(scriptedModel([]), options);
    const question = `⁇ run mail of subagent ${by}?`;
    await screen.ask("ada", question);
    expect(screen.finished()).toContain(`\n⁇ mail of subagent ${by} {"to":"ada"}`);
    screen.type("y");
    await screen.until(/sent to ada\.+\nAgent/);
    expect(screen.finished()).toMatch(new RegExp(`✓ mail of subagent ${by} was approved\n● ${called} `));
    await screen.ask("bob", question);
    screen.type("n");
    await screen.ask("not now", /not now[^]*not now[^]*\nAgent/);
    await screen.ask("eve", question);
    // Another process answers it.
    const [waiting] = (await chat.waiting("here")).approvals;
    await waiting?.thread.approve(waiting.request.id);
    await screen.until(/sent to eve\.+\nAgent/);
    expect(screen.screen()).not.toContain(question);
    expect(screen.finished()).toContain(`⁇ mail of subagent ${by} was not answered here`);
    await screen.ask("ian", question);
    screen.type("a");
    screen.press("enter");
    await screen.until(/sent to ian\.+\nAgent/);
    await screen.ask("uma", /sent to uma\.+\nAgent/);
    expect(screen.finished()).toContain(`mail of subagent ${by} runs without a question from here on`);
    await host.close();
  },
);

// vitest fails a run with an unhandled rejection.
test.each([
  ["is closed", new StorageError("closed", "it was closed"), 0],
  ["can't be read", new Error("it is broken"), 1],
])("a store that %s before it is known whose subagent waits is no error of the process", async (_, thrown, notices) => {
  const shown: string[] = [];
  const store = memoryStore({ clock: systemClock });
  const read = store.read.bind(store);
  const lookedFor = Promise.withResolvers<void>();
  const append = vi.spyOn(store, "append");
  vi.spyOn(store, "read").mockImplementation(async (...given) => {
    if (!JSON.stringify(append.mock.calls).includes('"mail"')) return read(...given);
    lookedFor.resolve();
    throw thrown;
  });
  const { host, ask } = await hostOf(agents["a subagent"], store, (text) => shown.push(text));
  const asked = ask("ada", "chat", {});
  await lookedFor.promise;
  await host.close();
  await expect(asked).rejects.toThrow("was closed here");
  expect(shown).toEqual(Array(notices).fill(expect.stringContaining("a subagent waits for approval of mail")));
});
