import type { Host } from "@colloquy/host";
import { expect, it } from "vitest";
import { withRestate } from "./engine.ts";

const llm = () => Promise.resolve({ type: "completed", reply: { content: "hello" }, finishReason: "stop" } as const);

const lease = { owner: "a stranger", token: 1 };

/** Meaningless bodies, by handler. */
const nonsense: { readonly [handler: string]: readonly unknown[] } = {
  tell: [undefined, null, 5, "words", {}, { event: null }, { event: 5 }, { event: {}, shown: 5 }],
  cut: [undefined, null, {}, { mail: null, effectId: "x" }, { mail: { event: { type: "x" } }, effectId: {} }],
  journal: [undefined, null, "x", -1, 0.5, -1e12, 1e300],
  lease: [undefined, null, {}, { owner: "x" }, { owner: "x", ttlMs: 1e15 }, { owner: "x", ttlMs: 1, lease: null }],
  release: [undefined, null, 5, {}],
  append: [undefined, null, {}, { lease: null }, { lease, expectedSeq: 2, entries: [{ seq: 3, event: {} }] }],
  rewrite: [undefined, null, {}, { lease, entries: [5] }, { lease, entries: null }],
};

withRestate("what strangers send to the ingress", (engine) => {
  const url = process.env["COLLOQUY_RESTATE_URL"] ?? "";
  const send = async (path: string, body: unknown): Promise<{ readonly status: number; readonly text: string }> => {
    const answer = await fetch(`${url}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const answered = async (host: Host, threadId: string): Promise<string> => (await host.ask("hi", { threadId })).text;

  it.each(Object.entries(nonsense))("is refused where it means nothing: %s", async (handler, bodies) => {
    const { host, name } = await engine.start({ llm, onObserverError: () => {} });
    await host.ask("hi", { threadId: "there" });
    for (const threadId of ["there", "new"])
      for (const body of bodies)
        expect(await send(`${name}/${threadId}/${handler}`, body)).toMatchObject({ status: 400 });
    // No handler is blocked.
    expect(await answered(host, "there")).toBe("hello");
    expect(await answered(host, "new")).toBe("hello");
  });

  it("is refused with a reason if it is meant for something else", async () => {
    const { host, name } = await engine.start({ llm, onObserverError: () => {} });
    const begun = { type: "thread.started", at: 0, threadId: "other" };
    const other = await send(`${name}/a/tell`, { event: begun });
    expect(other.text).toContain("it begins another thread than it was sent to");
    await answered(host, "a");
    for (const effectId of ["__proto__", "constructor", "x"])
      expect(await send(`${name}/a/cut`, { mail: { event: { type: "cancel.requested", at: 0 } }, effectId })).toEqual({
        status: 200,
        text: expect.stringContaining('"refused"'),
      });
    const held = JSON.parse((await send(`${name}/a/lease`, { owner: "x", ttlMs: 10_000 })).text) as object;
    const entries = [{ seq: 7, event: { type: "message.appended", at: 0, message: { role: "user", content: "x" } } }];
    expect(await send(`${name}/a/rewrite`, { lease: held, entries })).toMatchObject({ status: 500 });
    await send(`${name}/a/release`, held);
    expect(await answered(host, "a")).toBe("hello");
    expect(await send(`${name}/a/perform`, {})).toMatchObject({ status: 400 });
  });

  it("an event of a far future waits without blocking", async () => {
    const { promise: isLooked, resolve: look } = Promise.withResolvers<void>();
    const { host, name } = await engine.start({ llm: () => isLooked.then(llm) });
    const event = { type: "ask.received", at: 1e300, askId: "a", input: "hi", limits: { deadlineMs: 1 } };
    expect(await send(`${name}/late/tell`, { event })).toMatchObject({ status: 200 });
    const waiting = `SELECT status FROM sys_invocation WHERE target_service_name = '${name}' AND target_handler_name <> 'perform'`;
    expect(await engine.rows(waiting)).toContainEqual({ status: "scheduled" });
    look();
    expect((await host.ask("hi", { threadId: "late", askId: "a" })).text).toBe("hello");
  });
});
