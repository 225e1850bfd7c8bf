import { fc, test } from "@fast-check/vitest";
import type { LlmHandler } from "@colloquy/host";
import { textOf as textOfMessage } from "@colloquy/machine";
import { never, reply, scriptedModel } from "@colloquy/runtime-test/models";
import type { UIMessage } from "ai";
import { describe, expect } from "vitest";
import { type ThreadServer, threadServer } from "../../src/index.ts";
import { at, post } from "../serving.ts";
import { Chat, stage } from "./page.ts";
import { runs } from "../../../../test/runs.ts";

/** What somebody does in one of several tabs. `place` counts messages from the end. */
interface Action {
  readonly tab: number;
  readonly kind: Kind;
  readonly place: number;
  readonly text: "a" | "b";
}

type Kind =
  | "submit"
  | "hang"
  | "edit"
  | "regenerate"
  | "delete last"
  | "delete one"
  | "delete first"
  | "clear"
  | "reload"
  | "stop";

const oneTab = ["submit", "edit", "regenerate", "delete last", "reload"] as const satisfies readonly Kind[];
const anything = [...oneTab, "hang", "delete one", "delete first", "clear", "stop"] as const satisfies readonly Kind[];

const actionsOf = (kinds: readonly Kind[], tabs: number): fc.Arbitrary<readonly Action[]> =>
  fc.array(
    fc.record({
      // Mostly one tab, with something in it.
      tab: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat({ max: tabs - 1 })),
      kind: fc.oneof(
        { weight: 2, arbitrary: fc.constant("submit" as const) },
        { weight: 3, arbitrary: fc.constantFrom(...kinds) },
      ),
      place: fc.nat({ max: 5 }),
      text: fc.constantFrom("a" as const, "b" as const),
    }),
    { minLength: 2, maxLength: 12 },
  );

describe("law: what a page shows is what its thread continues from, or the page is told", () => {
  test.prop([actionsOf(anything, 3), fc.boolean()], { numRuns: runs(400) })(
    "in up to three tabs, with ids of their own or the same",
    async (actions, sharesIds) => {
      const { played } = await play(actions, sharesIds);
      for (const { differences } of played) expect(differences).toEqual([]);
    },
  );

  test.prop([actionsOf(oneTab, 1)], { numRuns: runs(200) })(
    "and a single tab that loses only its end is never told",
    async (actions) => {
      const { played } = await play(actions, false);
      for (const { action, told, differences } of played)
        expect({ action, told, differences }).toEqual({ action, told: [], differences: [] });
    },
  );
});

interface Played {
  readonly action: Action;
  /** What the page was told. */
  readonly told: readonly string[];
  /** In what page, thread and prompt differ, though the page was told nothing. */
  readonly differences: readonly object[];
}

const play = async (
  actions: readonly Action[],
  sharesIds: boolean,
): Promise<{ readonly played: readonly Played[] }> => {
  const model = hangingModel();
  const { host } = stage(model.llm);
  const server = threadServer(host);
  const tabs = new Map<number, Tab>();
  const played: Played[] = [];
  for (const action of actions) {
    let tab = tabs.get(action.tab);
    if (tab === undefined || action.kind === "reload") {
      await tab?.leave();
      tab = new Tab(server, sharesIds ? "m" : `m${action.tab}-${played.length}-`, await loaded(server));
      tabs.set(action.tab, tab);
    }
    const before = model.prompts.length;
    const isSettled = await tab.act(action, async (message) => {
      const open = await host.thread("t").look(({ context }) => context.open?.number ?? null);
      return model.isHanging() && message === `turn-${open}`;
    });
    const { told } = tab;
    const differences: object[] = [];
    const prompt = model.prompts.length > before ? model.prompts.at(-1) : undefined;
    const shown = textsOf(tab.chat.messages);
    const asked = shown.slice(0, -1);
    const read = tab.isCut ? prompt?.slice(-asked.length) : prompt;
    if (told.length === 0 && read !== undefined && JSON.stringify(asked) !== JSON.stringify(read))
      differences.push({ action, shown, prompt });
    const whole = textsOf(await loaded(server));
    const part = tab.isCut ? whole.slice(-shown.length) : whole;
    const thread = isSettled && told.length === 0 ? part : shown;
    if (JSON.stringify(thread) !== JSON.stringify(shown)) differences.push({ action, shown, thread });
    played.push({ action, told, differences });
  }
  await server.fetch(post("/ui/t/stop", {}));
  for (const tab of tabs.values()) await tab.leave();
  await host.close();
  return { played };
};

/** A page, and what it was told since it did something. */
class Tab {
  readonly chat: Chat;
  readonly #server: ThreadServer;
  told: string[] = [];
  #open: Promise<unknown> = Promise.resolve();
  #isOpen = false;

  constructor(server: ThreadServer, prefix: string, messages: readonly UIMessage[]) {
    let drawn = 0;
    this.#server = server;
    this.chat = new Chat({
      server,
      messages: [...messages],
      generateId: () => `${prefix}${(drawn += 1)}`,
      onError: ({ message }) => void this.told.push(message),
      onData: ({ type }) => void this.told.push(type),
    });
  }

  /** Whether it knows that the thread has older messages. */
  get isCut(): boolean {
    return this.chat.messages.some(({ metadata }) => JSON.stringify(metadata ?? {}).includes('"earlier":true'));
  }

  /** Does it; true if the thread was asked and has answered. @param hangs whether that message is still waited for */
  async act({ kind, place, text }: Action, hangs: (messageId?: string) => Promise<boolean>): Promise<boolean> {
    const { chat } = this;
    const { messages } = chat;
    const chosen = messages.at(-1 - (place % Math.max(messages.length, 1)));
    this.told = [];
    if (kind === "stop") {
      const wasOpen = this.#isOpen;
      await this.#server.fetch(post("/ui/t/stop", {}));
      await this.#open;
      return wasOpen;
    }
    await this.leave();
    this.told = [];
    switch (kind) {
      case "submit":
        return this.#send(chat.sendMessage({ text }), hangs);
      case "hang":
        return this.#send(chat.sendMessage({ text: "hang" }), hangs);
      case "edit":
        return chosen?.role === "user" && this.#send(chat.sendMessage({ text, messageId: chosen.id }), hangs);
      case "regenerate":
        return chosen !== undefined && this.#send(chat.regenerate({ messageId: chosen.id }), hangs);
      case "delete last": {
        const last = messages.findLastIndex(({ role }) => role === "user");
        // A page without any message is another case.
        if (last > 0) chat.messages = messages.slice(0, last);
        return false;
      }
      case "delete one":
        chat.messages = messages.filter((message) => message !== chosen);
        return false;
      case "delete first":
        chat.messages = messages.slice(place);
        return false;
      case "clear":
        chat.messages = [];
        return false;
      case "reload":
        return true;
    }
  }

  /** Stops reading, as a page that goes. */
  async leave(): Promise<void> {
    if (this.#isOpen) await this.chat.stop();
    await this.#open;
  }

  async #send(sent: Promise<unknown>, hangs: (messageId?: string) => Promise<boolean>): Promise<boolean> {
    const isCut = this.isCut;
    this.#isOpen = true;
    this.#open = sent.finally(() => (this.#isOpen = false));
    // The page takes away what it sends anew before it is looked at.
    do await new Promise(setImmediate);
    while (this.#isOpen && !(await hangs(this.chat.lastMessage?.id)));
    if (this.isCut && !isCut) this.told.push("earlier");
    return !this.#isOpen;
  }
}

const loaded = async (server: ThreadServer): Promise<readonly UIMessage[]> =>
  (await server.fetch(at("/ui/t/messages"))).json();

const textsOf = (messages: readonly UIMessage[]): readonly string[] =>
  messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""));

/** Answers at once, each time otherwise; what ends with "hang" only when it is cancelled. */
const hangingModel = () => {
  const prompts: (readonly string[])[] = [];
  let hanging = 0;
  const llm: LlmHandler = async (call, context) => {
    const texts = call.messages.map(textOfMessage);
    prompts.push(texts);
    const text = `answer ${prompts.length}`;
    if (texts.at(-1) !== "hang") return scriptedModel([reply(text)])(call, context);
    hanging += 1;
    try {
      return await scriptedModel([never({ pieces: [{ text }] })])(call, context);
    } finally {
      hanging -= 1;
    }
  };
  return { llm, prompts, isHanging: () => hanging > 0 };
};
