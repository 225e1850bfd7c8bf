import type { LlmHandler } from "@colloquy/host";
import { expect } from "vitest";
import { reply } from "../../models/script.ts";
import { type Fault, recordedStream } from "../../server/recorded-response.ts";
import { failureOf, partialOf, saidInPieces } from "./call.ts";
import type { ModelChecks, ModelSubject } from "./subject.ts";

const text = "It is snowing, and will be sunny.";
const idleTimeoutMs = 1000;

export const endingChecks: ModelChecks = {
  "keeps the received part of a stream that ends too early, and calls it truncated": (subject) => cuts(subject, "end"),
  "keeps the received part of a stream whose connection is cut": (subject) => cuts(subject, "cut"),
  "fails with a retryable network error when nothing comes back": async ({ play }) => {
    const { ended, requests } = await play([recordedStream("", { fault: { type: "reset" } })]);
    expect(failureOf(await ended())).toMatchObject({ kind: "network", retryable: true });
    expect(requests).toHaveLength(1);
  },
  "ends a call when nothing comes for longer than the idle timeout": async ({ call, soon }) => {
    const server = waitingModel([]);
    const { ended, during, clock, timers } = await call(server.model, { fields: { idleTimeoutMs } });
    await during(server.asked, "no request came to the model");
    clock.advance(idleTimeoutMs);
    expect(failureOf(await ended())).toMatchObject({ kind: "timeout", retryable: true });
    await soon(server.gone, "the connection was left open");
    expect(timers()).toBe(0);
  },
  "waits on while pieces come, and keeps them when they stop": async ({ call }) => {
    const server = waitingModel(["It", " is"]);
    const { ended, clock, shown, deltas, timers } = await call(server.model, { fields: { idleTimeoutMs } });
    for (const count of [1, 2]) {
      server.next();
      await shown(count);
      clock.advance(idleTimeoutMs - 1);
      await settled();
      expect(timers()).toBe(1);
    }
    clock.advance(1);
    const outcome = await ended();
    expect(failureOf(outcome)).toMatchObject({ kind: "timeout", retryable: true });
    expect(partialOf(outcome, deltas).text).toBe("It is");
    expect(timers()).toBe(0);
  },
  "leaves no timer behind": async ({ call }) => {
    const server = waitingModel(["Snow."]);
    const { ended, timers } = await call(server.model, { fields: { idleTimeoutMs } });
    server.next();
    server.next();
    await ended();
    expect(timers()).toBe(0);
  },
  "ends when it is cancelled before it asked": async ({ call }) => {
    const control = new AbortController();
    control.abort();
    const { ended } = await call(waitingModel([]).model, { control });
    expect(failureOf(await ended())).toMatchObject({ retryable: false });
  },
  "ends when it is cancelled before an answer comes, and closes the connection": async ({ call, soon }) => {
    const server = waitingModel([]);
    const { ended, during, control, timers } = await call(server.model, { fields: { idleTimeoutMs } });
    await during(server.asked, "no request came to the model");
    control.abort();
    expect(failureOf(await ended())).toMatchObject({ retryable: false });
    await soon(server.gone, "the connection was left open");
    expect(timers()).toBe(0);
  },
  "ends when cancelled in an answer, keeps the received part, and closes the connection": async ({ call, soon }) => {
    const server = waitingModel(["It", " is"]);
    const { ended, control, shown, deltas } = await call(server.model);
    server.next();
    server.next();
    await shown(2);
    control.abort();
    expect(partialOf(await ended(), deltas).text).toBe("It is");
    await soon(server.gone, "the connection was left open");
  },
  "ends at any moment when it is cancelled, and shows nothing after that": async ({ play, wire }) => {
    const bytes = await wire(reply(text), true);
    for (const ticks of [0, 1, 2, 3, 5, 8, 13, 21, 34]) {
      const fault = { type: "stall", afterBytes: bytes.length - 1 } as const;
      const { ended, control, deltas } = await play([recordedStream(bytes, { pieceBytes: 40, fault })]);
      for (let tick = 0; tick < ticks; tick++) await settled();
      control.abort();
      await ended();
      const shown = deltas.length;
      await settled();
      expect(deltas).toHaveLength(shown);
      expect(text.startsWith(saidInPieces(deltas).text)).toBe(true);
    }
  },
};

/** Breaks a stream off at several places. The answer is then complete, or it failed and the received part is kept. */
const cuts = async ({ play, wire }: ModelSubject, type: Exclude<Fault["type"], "reset">): Promise<void> => {
  const bytes = await wire(reply(text), true);
  const first = bytes.indexOf("snowing");
  const last = bytes.indexOf("sunny.");
  for (const afterBytes of [
    0,
    9,
    first - 3,
    bytes.indexOf("\n\n", first) + 2,
    last - 3,
    bytes.indexOf("\n\n", last) + 2,
  ]) {
    const { ended, deltas, requests } = await play([recordedStream(bytes, { fault: { type, afterBytes } })]);
    const outcome = await ended();
    const said = partialOf(outcome, deltas);
    expect(text.startsWith(said.text)).toBe(true);
    expect(said.text.includes("snowing")).toBe(afterBytes > first);
    expect(saidInPieces(deltas).text).toBe(said.text);
    const kinds = type === "end" ? ["truncated"] : ["truncated", "network"];
    expect(kinds).toContain(failureOf(outcome).kind);
    expect(failureOf(outcome).retryable).toBe(true);
    expect(requests).toHaveLength(1);
  }
};

/** Makes a model that says a piece at each call of `next`, then completes; without pieces it waits for the client. */
const waitingModel = (
  pieces: readonly string[],
): {
  readonly model: LlmHandler;
  readonly asked: Promise<void>;
  /** Resolves when the client has disconnected. */
  readonly gone: Promise<void>;
  readonly next: () => void;
} => {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const gates = [...pieces, "end"].map(() => Promise.withResolvers<void>());
  let open = 0;
  const model: LlmHandler = async (_, { onDelta, signal }) => {
    signal.addEventListener("abort", () => gone.resolve());
    asked.resolve();
    for (const [index, piece] of pieces.entries()) {
      await gates[index]?.promise;
      onDelta({ type: "text", text: piece });
    }
    await (pieces.length === 0 ? gone.promise : gates[pieces.length]?.promise);
    return { type: "completed", reply: { content: pieces.join("") }, finishReason: "stop" };
  };
  return { model, asked: asked.promise, gone: gone.promise, next: () => gates[open++]?.resolve() };
};

/** Resolves when all pending microtasks and immediates have run. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
