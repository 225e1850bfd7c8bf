import type { Host, HostedThread, LlmHandler } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { threadServer } from "../../src/index.ts";
import type { ChatRequest } from "../../src/ui/chat-request.ts";
import { WaitingPages } from "../../src/ui/waiting-pages.ts";
import { post } from "../serving.ts";
import { painted, seat, stage } from "./page.ts";

const said = (id: string, text: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text }] });

/** A thing that happens once. */
class Moment {
  readonly #moment = Promise.withResolvers<void>();
  readonly happened: Promise<void> = this.#moment.promise;
  readonly happens = this.#moment.resolve;
}

/** A model that answers each text once its moment `answer` happens. */
const model = () => {
  const calls = new Map<string, { readonly asked: Moment; readonly answer: Moment }>();
  const of = (text: string) => {
    const call = calls.get(text) ?? { asked: new Moment(), answer: new Moment() };
    calls.set(text, call);
    return call;
  };
  const llm: LlmHandler = async ({ messages }) => {
    const last = messages.at(-1);
    const { asked, answer } = of(last === undefined ? "" : textOf(last));
    asked.happens();
    await answer.happened;
    return { type: "completed", reply: { content: "Yes." }, finishReason: "stop" };
  };
  return { of, llm };
};

/** A host whose threads say when somebody looks or rejoins, and let nobody look before `onLook` resolves. */
const watched = (host: Host, on: { look: () => Promise<void>; rejoin: () => void }): Host => {
  const bound = <Owner extends object>(owner: Owner, changed: Partial<Owner>): Owner =>
    new Proxy(owner, {
      get: (_, name) => {
        const value: unknown = Reflect.get(name in changed ? changed : owner, name);
        return typeof value === "function" ? value.bind(owner) : value;
      },
    });
  const thread = (id: string): HostedThread => {
    const real = host.thread(id);
    return bound(real, {
      look: async (read) => {
        await on.look();
        return real.look(read);
      },
      rejoin: (askId) => {
        on.rejoin();
        return real.rejoin(askId);
      },
    });
  };
  return bound(host, { thread });
};

test("a message that is edited between its waits outside the thread is not asked", async () => {
  const { of, llm } = model();
  const { host } = stage(llm);
  const waits = new Moment();
  const looks = new Moment();
  const mayLook = new Moment();
  let look = (): Promise<void> => Promise.resolve();
  const server = threadServer(watched(host, { look: () => look(), rejoin: waits.happens }));
  const sent = async (body: object): Promise<string> => (await server.fetch(post("/ui/t", body))).text();

  of("one").answer.happens();
  await sent({ messages: [said("a", "one")] });
  const page = await painted(server);
  // Another tab asks from the beginning, so the page's next message can neither queue nor be asked at once.
  const other = host.thread("t").ask("two", { from: 0 });
  await of("two").asked.happened;
  const early = sent({ messages: [...page, said("b", "early")] });
  await waits.happened;
  look = () => {
    looks.happens();
    return mayLook.happened;
  };
  of("two").answer.happens();
  await other;
  await looks.happened;
  look = () => Promise.resolve();
  const late = sent({ messages: [...page, said("b", "late")], messageId: "b" });
  await of("late").asked.happened;
  mayLook.happens();
  of("late").answer.happens();
  of("early").answer.happens();
  expect(await late).toContain("Yes.");
  expect(await early).toContain("This chat has changed since it was loaded here.");
  expect((await painted(server)).map(({ id }) => id)).toEqual(["a", "turn-1", "b", "turn-3"]);
  await host.close();
});

test("a page that left while its message waited outside the thread cancels no turn that needs an answer later", async () => {
  const [asked, mayCall, waits] = [new Moment(), new Moment(), new Moment()];
  const llm: LlmHandler = async ({ turn, step }) => {
    if (turn !== 2 || step > 1) return { type: "completed", reply: { content: "Yes." }, finishReason: "stop" };
    asked.happens();
    await mayCall.happened;
    const toolCalls = [{ id: "a", name: seat.name, arguments: "{}" }];
    return { type: "completed", reply: { toolCalls }, finishReason: "tool_calls" };
  };
  const { host } = stage(llm);
  let looked = new Moment();
  const look = (): Promise<void> => Promise.resolve(looked.happens());
  const ui = { onDisconnect: "cancel", tools: [seat] } as const;
  const server = threadServer(watched(host, { look, rejoin: waits.happens }), { ui });
  const sent = async (message: UIMessage, before: readonly UIMessage[], signal?: AbortSignal): Promise<string> => {
    const request = post("/ui/t", { messages: [...before, message] });
    return (await server.fetch(signal === undefined ? request : new Request(request, { signal }))).text();
  };
  await sent(said("a", "one"), []);
  const page = await painted(server);
  const first = host.thread("t").ask("two", { tools: [seat] });
  await asked.happened;
  const leaving = new AbortController();
  const late = sent(said("b", "late"), page, leaving.signal).catch(() => "");
  await waits.happened;
  leaving.abort();
  await late;
  looked = new Moment();
  mayCall.happens();
  await looked.happened;
  await host.thread("t").answerTool("2.1.0", "12C");
  expect(await first).toMatchObject({ status: "completed" });
  expect((await host.thread("t").asks()).map(({ status }) => status)).toEqual(["completed", "completed"]);
  await host.close();
});

const asking = (ids: string, more: Partial<ChatRequest> = {}): ChatRequest =>
  // Cast: only these are read.
  ({ messages: ids.split(" ").map((id) => said(id, id)), ...more }) as ChatRequest;

test.each<readonly [string, string, Partial<ChatRequest>, boolean]>([
  ["a", "a b", {}, true],
  ["x a", "x a b", {}, true],
  ["a", "b", {}, false],
  ["a", "a", {}, false],
  ["x a", "x b", { messageId: "a" }, true],
  ["x a", "x b", { messageId: "c" }, false],
  ["x a", "x a", { trigger: "regenerate-message" }, true],
  ["x a", "b", { trigger: "regenerate-message", messageId: "x" }, true],
  ["x a", "b", { trigger: "regenerate-message" }, false],
])("a page's request of %s is replaced by a later one of %s with %j: %s", (earlier, later, more, isReplaced) => {
  const pages = new WaitingPages();
  const [first, second] = [pages.next(), pages.next()];
  const [one, same] = [pages.add("t", first, asking(earlier)), pages.add("t", second, asking(earlier))];
  pages.replace("other", second, asking(later, more));
  pages.replace("t", first, asking(later, more));
  expect([one.isReplaced, same.isReplaced]).toEqual([false, false]);
  pages.replace("t", second, asking(later, more));
  expect([one.isReplaced, same.isReplaced]).toEqual([isReplaced, false]);
});

test("a page's request is replaced also after another one of the same thread has ended, and its own end changes nothing more", () => {
  const pages = new WaitingPages();
  const [first, second, third] = [pages.next(), pages.next(), pages.next()];
  const ended = pages.add("t", first, asking("a"));
  const waiting = pages.add("t", second, asking("a"));
  ended.end();
  pages.replace("t", third, asking("a b"));
  expect([ended.isReplaced, waiting.isReplaced]).toEqual([false, true]);
  waiting.end();
  const later = pages.add("t", pages.next(), asking("a"));
  pages.replace("t", pages.next(), asking("a b"));
  expect([ended.isReplaced, later.isReplaced]).toEqual([false, true]);
});
