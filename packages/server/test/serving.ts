import { createHost, type Host, memoryStore } from "@colloquy/runtime-node";
import { scriptedModel } from "@colloquy/runtime-test/models";
import { type Route, type ThreadServer, threadServer, type ThreadServerOptions } from "../src/index.ts";

/** Makes a host for tests that never ask it. */
const silentHost = (): Host => createHost({ llm: scriptedModel([]), store: memoryStore() });

/** Makes a server with extra routes. */
export const serving = (options: ThreadServerOptions, ...routes: readonly Route[]): ThreadServer =>
  threadServer(silentHost(), options, routes);

/** A route of a test. */
export const get = (path: string, handle: Route["handle"]): Route => ({ method: "GET", path, handle });

export const at = (path: string, init: RequestInit = {}): Request => new Request(`http://localhost${path}`, init);

export const post = (path: string, body: unknown, headers: Record<string, string> = {}): Request =>
  at(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

/** The error of an answer. */
export const errorOf = async (
  response: Response,
): Promise<{
  readonly status: number;
  readonly message: string;
  readonly param: string | null;
  readonly code: string | null;
}> => {
  // Cast: the server promises this; a missing member fails the comparison.
  const { error } = (await response.json()) as {
    error: { message: string; param: string | null; code: string | null };
  };
  return { status: response.status, message: error.message, param: error.param, code: error.code };
};
