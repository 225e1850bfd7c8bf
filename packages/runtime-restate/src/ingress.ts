import { connect, type IngressClient } from "@restatedev/restate-sdk-clients";
import { errorTextOf } from "@colloquy/host/runtime";
import type { ThreadHandlers } from "./handlers.ts";

/** Where handlers of threads are called. */
export interface IngressOptions {
  /** The address of Restate's ingress. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** The name of the threads' object. */
  readonly name: string;
}

/** A thread, by its id, whose calls fail with a message that says what to do. */
export const threadsAt = (options: IngressOptions): ((threadId: string) => IngressClient<ThreadHandlers>) => {
  const { url, headers, name } = options;
  const ingress = connect({ url, headers: { ...headers }, fetch: fetchInWords(options) });
  return (threadId) => ingress.objectClient<ThreadHandlers>({ name }, threadId);
};

const fetchInWords = ({ url, name }: IngressOptions): typeof fetch => {
  // Without a password that the address may have.
  const { origin } = new URL(url);
  return async (address, init) => {
    const signal = AbortSignal.timeout(answerMs);
    const answer = await fetch(address, { ...init, signal }).catch((cause: unknown) => {
      const problem = signal.aborted
        ? `no worker of "${name}" answered within ${answerMs / 1000} s; start one, where the last one was or by serve({ …, admin })`
        : `Restate does not answer at ${origin}; start its server, or give the address of its ingress`;
      throw new Error(problem, { cause });
    });
    if (answer.ok) return answer;
    const { status, headers } = answer;
    const text = await errorTextOf(answer, signal);
    if (status !== 404) return new Response(text, { status, headers });
    throw new Error(
      `no worker of "${name}" is known at ${origin}; start one by serve({ …, admin }), or give the address of Restate's ingress`,
    );
  };
};

/** How long a call may take, in milliseconds. No handler waits for a model or a tool; one without a worker waits for that. */
const answerMs = 20_000;
