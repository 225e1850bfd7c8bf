import { fc, test } from "@fast-check/vitest";
import type { LlmHandler } from "@colloquy/host";
import { textOf as textOfMessage } from "@colloquy/machine";
import { never, reply, scriptedModel } from "@colloquy/runtime-test/models";
import type { UIMessage } from "ai";
import { describe, expect } from "vitest";
import { type ThreadServer, threadServer } from "../../src/index.ts";
import { post } from "../serving.ts";
import { Chat, painted, stage, textsOf } from "./page.ts";
import { runs } from "../../../../test/runs.ts";

/** A user's action in one of several tabs. `place` counts messages from the end. */
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
  | "delete answer"
  | "clear"
  | "reload"
  | "stop";

const oneTab = ["submit", "edit", "regenerate", "delete last", "reload"] as const satisfies readonly Kind[];
const anything = [
  ...oneTab,
  "hang",
  "delete one",
  "delete first",
  "delete answer",
  "clear",
  "stop",
] as const satisfies readonly Kind[];

const actionsOf = (kinds: readonly Kind[], tabs: number): fc.Arbitrary<readonly Action[]> =>
  fc.array(
    fc.record({
      // Mostly the first tab, so that it has messages.
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
  test.prop([actionsOf(anything, 3), fc.boolean(), fc.constantFrom("continue", "cancel")], { numRuns: runs(800) })(
    "in up to three tabs, with ids of their own or the same, whether or not a page that goes cancels its turn",
    async (actions, sharesIds, onDisconnect) => {
      expect(await play(actions, sharesIds, onDisconnect)).toMatchObject({ differences: [] });
    },
  );

  test.prop([actionsOf(oneTab, 1)], { numRuns: runs(400) })(
    "and a single tab that loses only its end is never told",
    async (actions) => {
      expect(await play(actions, false, "continue")).toEqual({ told: [], differences: [] });
    },
  );
});

/** These messages can't queue: their page shows a turn that another tab regenerates meanwhile. */
describe("a message that waits outside the thread", () => {
  const action = (tab: number, kind: Kind, place = 0): Action => ({ tab, kind, place, text: "a" });
  const regenerated = [action(0, "hang"), action(1, "regenerate"), action(1, "clear"), action(0, "submit")];

  test.each([
    ["an earlier message is edited", [...regenerated, action(0, "edit", 2)]],
    [
      "a later message brings it along",
      [...regenerated, action(0, "submit"), action(0, "submit"), action(0, "edit", 4)],
    ],
  ])("is not asked once %s", async (_, actions) => {
    expect(await play(actions, false, "continue")).toEqual({ told: [], differences: [] });
  });
});

interface Played {
  /** The errors and notices that the pages received. */
  readonly told: readonly string[];
  /** The differences between a page and its prompt or thread, of which the page was not told. */
  readonly differences: readonly object[];
}

const play = async (
  actions: readonly Action[],
  sharesIds: boolean,
  onDisconnect: "cancel" | "continue",
): Promise<Played> => {
  const model = hangingModel();
  const { host } = stage(model.llm);
  const server = threadServer(host, { ui: { onDisconnect } });
  const tabs = new Map<number, Tab>();
  const told: string[] = [];
  const differences: object[] = [];
  const isStuck = async (): Promise<string | null> => {
    const { open = null, waiting = 0 } =
      (await host.thread("t").look(({ context }) => ({
        open: context.open?.number ?? null,
        waiting: context.queue.length,
      }))) ?? {};
    return model.isHanging() ? `${open} ${waiting} ${model.prompts.length}` : null;
  };
  let made = 0;
  for (const action of actions) {
    let tab = tabs.get(action.tab);
    if (tab === undefined || action.kind === "reload") {
      await tab?.leave();
      tab = new Tab(server, sharesIds ? "m" : `m${action.tab}-${(made += 1)}-`, await painted(server), isStuck);
      tabs.set(action.tab, tab);
    }
    const isAlone = [...tabs.values()].every((other) => other === tab || !other.isOpen);
    const isSettled = await tab.act(action);
    told.push(...tab.told);
    for (const each of tabs.values()) {
      const prompt = each.takeAnswered(model.prompts);
      if (prompt !== null && JSON.stringify(prompt.shown) !== JSON.stringify(prompt.read))
        differences.push({ action, ...prompt });
    }
    // Waiting messages of other tabs may have been answered since.
    if (!isSettled || !isAlone || tab.told.length > 0) continue;
    const shown = textsOf(tab.chat.messages);
    const whole = textsOf(await painted(server));
    const thread = tab.isCut ? whole.slice(-shown.length) : whole;
    if (JSON.stringify(thread) !== JSON.stringify(shown)) differences.push({ action, shown, thread });
  }
  while ((await (await server.fetch(post("/ui/t/stop", {}))).text()).includes("true"));
  for (const tab of tabs.values()) await tab.leave();
  // No message is answered twice. A waiting one may be edited, and the page is told once it is answered.
  const end = await painted(server);
  const ids = end.slice(0, end.findLastIndex(({ role }) => role === "assistant") + 1).map(({ id }) => id);
  if (!sharesIds && new Set(ids).size < ids.length) differences.push({ asksTwice: ids });
  await host.close();
  return { told, differences };
};

/** A page, with its errors and notices since its last action. */
class Tab {
  readonly chat: Chat;
  readonly #server: ThreadServer;
  /** Describes a thread that only a stop would move; null if it moves by itself. */
  readonly #isStuck: () => Promise<string | null>;
  told: string[] = [];
  #open: Promise<unknown> = Promise.resolve();
  isOpen = false;
  #isAsked = false;
  #wasCut = false;

  constructor(
    server: ThreadServer,
    prefix: string,
    messages: readonly UIMessage[],
    isStuck: () => Promise<string | null>,
  ) {
    let drawn = 0;
    this.#server = server;
    this.#isStuck = isStuck;
    this.chat = new Chat({
      server,
      messages: [...messages],
      generateId: () => `${prefix}${(drawn += 1)}`,
      onError: ({ message }) => void this.told.push(message),
      onData: ({ type }) => void this.told.push(type),
    });
  }

  /** Whether the page knows that the thread has older messages. */
  get isCut(): boolean {
    return this.chat.messages.some(({ metadata }) => JSON.stringify(metadata ?? {}).includes('"earlier":true'));
  }

  /** Returns the page's messages before its new answer and the prompt of that answer; null without a new answer. */
  takeAnswered(prompts: readonly (readonly string[])[]): { readonly shown: unknown; readonly read: unknown } | null {
    if (!this.#isAsked || this.isOpen) return null;
    this.#isAsked = false;
    if (this.isCut && !this.#wasCut) this.told.push("earlier");
    const texts = textsOf(this.chat.messages);
    const number = Number(/^answer (\d+)$/u.exec(texts.at(-1) ?? "")?.[1]);
    if (this.told.length > 0 || this.chat.lastMessage?.role !== "assistant" || Number.isNaN(number)) return null;
    const shown = texts.slice(0, -1);
    const read = prompts[number - 1];
    return { shown, read: this.isCut ? read?.slice(-shown.length) : read };
  }

  /** Performs an action. Returns true if the thread was asked and has answered. */
  async act({ kind, place, text }: Action): Promise<boolean> {
    const { chat } = this;
    const { messages } = chat;
    const chosen = messages.at(-1 - (place % Math.max(messages.length, 1)));
    if (kind === "stop") {
      const wasOpen = this.isOpen;
      await this.#server.fetch(post("/ui/t/stop", {}));
      return wasOpen && this.#settled();
    }
    await this.leave();
    this.told = [];
    this.#isAsked = false;
    switch (kind) {
      case "submit":
        return this.#send(chat.sendMessage({ text }));
      case "hang":
        return this.#send(chat.sendMessage({ text: "hang" }));
      case "edit":
        return chosen?.role === "user" && this.#send(chat.sendMessage({ text, messageId: chosen.id }));
      case "regenerate":
        return chosen !== undefined && this.#send(chat.regenerate({ messageId: chosen.id }));
      case "delete last": {
        const last = messages.findLastIndex(({ role }) => role === "user");
        // A page without messages is another case.
        if (last > 0) chat.messages = messages.slice(0, last);
        return false;
      }
      case "delete one":
        chat.messages = messages.filter((message) => message !== chosen);
        return false;
      case "delete answer":
        chat.messages = messages.filter((message) => message !== messages.findLast(({ role }) => role === "assistant"));
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

  /** Stops reading, as a page that leaves. */
  async leave(): Promise<void> {
    if (this.isOpen) await this.chat.stop();
    await this.#open;
  }

  #send(sent: Promise<unknown>): Promise<boolean> {
    this.#wasCut = this.isCut;
    this.isOpen = true;
    this.#isAsked = true;
    this.#open = sent.finally(() => (this.isOpen = false));
    return this.#settled();
  }

  /** Waits for the answer. Returns false if only a stop would bring it. */
  async #settled(): Promise<boolean> {
    let before: string | null = null;
    for (let same = 0; this.isOpen && same < 15;) {
      await new Promise(setImmediate);
      const now = await this.#isStuck();
      same = now !== null && now === before ? same + 1 : 0;
      before = now;
    }
    return !this.isOpen;
  }
}

/** Makes a model that answers at once, each time differently. It never answers a prompt that ends with "hang". */
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
