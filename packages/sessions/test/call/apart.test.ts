import type { LlmHandler } from "@colloquy/host";
import { expect, test } from "vitest";
import { sessionOf } from "../programs.ts";

const history = { exchanges: [], as: "override" } as const;

test.each(["handle", "signal"])(
  "a call without a turn that is cancelled by its %s, with a reason, cancels what it called, and rejects with an error",
  async (by) => {
    const begun = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const llm: LlmHandler = (_, { signal }) =>
      new Promise((__, reject) => {
        signal.addEventListener("abort", () => {
          cancelled.resolve();
          reject(new Error("too late"));
        });
        begun.resolve();
      });
    const host = { onObserverError: () => {} };
    const qa = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("draft", q)).text }), { llm, host });
    const controller = new AbortController();
    const call = qa.call({ q: "Q" }, { history, signal: controller.signal });
    await begun.promise;
    if (by === "handle") call.abort("enough");
    else controller.abort("enough");
    const thrown = await call.catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Error);
    expect(String(thrown)).toContain("cancelled: enough");
    await cancelled.promise;
  },
);
