import { onTestFinished } from "vitest";
import { loopbackServer, type LoopbackServer, type LoopbackServerOptions } from "../../src/server/index.ts";

/** A server that is closed when the test is over. */
export const serverFor = async (options: LoopbackServerOptions): Promise<LoopbackServer> => {
  const server = await loopbackServer(options);
  onTestFinished(() => server.close());
  return server;
};

/** Posts a body: a text as it is, anything else as JSON. */
export const post = (
  server: LoopbackServer,
  body: unknown,
  init: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal; readonly path?: string } = {},
): Promise<Response> =>
  fetch(new URL(init.path ?? "/v1/chat/completions", server.url), {
    method: "POST",
    headers: { "content-type": "application/json", ...init.headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  });

/** A body that asks one question. */
export const question = (content: string, extra: object = {}): object => ({
  model: "test",
  messages: [{ role: "user", content }],
  ...extra,
});

/** The data of the events of a stream. */
export const eventsOf = async (response: Response): Promise<readonly unknown[]> =>
  (await response.text())
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => event.replace(/^data: /, ""))
    .map((data): unknown => (data === "[DONE]" ? data : JSON.parse(data)));

/** Returns the part of a body that came before the connection failed, and the failure. */
export const readUntilCut = async (response: Response): Promise<{ readonly text: string; readonly error: unknown }> => {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return { text, error: undefined };
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    return { text, error };
  }
};
