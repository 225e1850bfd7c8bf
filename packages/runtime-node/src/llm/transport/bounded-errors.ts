import { errorTextOf } from "@colloquy/host/runtime";
import type OpenAI from "openai";

/** Marks the requests of the handlers among the options of their `fetch`: a client may be shared with other code. */
const isOurs: unique symbol = Symbol("colloquy");

/** The options of a request whose error body is read to a bound. */
export const oursOnly: { readonly [isOurs]: true } = { [isOurs]: true };

/**
 * Has the client read the body of an error to a bound, in the requests that are marked: the SDK itself reads it to its end,
 * which may never come. The body is read within the time that the request has.
 */
export const withBoundedErrors = (client: OpenAI): OpenAI => {
  // Private in the SDK's types. A copy of the client would not know a key that is given to the client later.
  const own = client["fetch"] as typeof fetch | undefined;
  if (own === undefined || bounded.has(own)) return client;
  const fetchBounded: typeof fetch = async (input, init) => {
    const response = await own(input, init);
    if (response.ok || init === undefined || !(isOurs in init)) return response;
    const text = await errorTextOf(response, init.signal ?? undefined);
    return Object.defineProperty(response, "text", { value: () => Promise.resolve(text) });
  };
  bounded.add(fetchBounded);
  client["fetch"] = fetchBounded;
  return client;
};

const bounded = new WeakSet<typeof fetch>();
