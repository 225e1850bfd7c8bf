import { onTestFinished } from "vitest";
import { loopbackServer, type LoopbackServer, type LoopbackServerOptions } from "../../src/server/index.ts";

/** Starts a server that closes at the end of the test. */
export const serverFor = async (options: LoopbackServerOptions): Promise<LoopbackServer> => {
  const server = await loopbackServer(options);
  onTestFinished(() => server.close());
  return server;
};

/** Posts a body: a string as it is, any other value as JSON. */
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

/** Returns a body that asks one question. */
export const question = (content: string, extra: object = {}): object => ({
  model: "test",
  messages: [{ role: "user", content }],
  ...extra,
});

/** Returns the parsed data of the events of a stream, with `[DONE]` as it is. */
export const eventsOf = async (response: Response): Promise<readonly unknown[]> =>
  (await response.text())
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => event.replace(/^data: /, ""))
    .map((data): unknown => (data === "[DONE]" ? data : JSON.parse(data)));

/** Reads a body until it ends or the connection fails. Returns the text so far, and the error if it failed. */
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
