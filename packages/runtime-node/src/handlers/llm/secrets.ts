import type OpenAI from "openai";

/**
 * Texts that go with each request of a client and must not stand in a message: its keys, and the values of its own
 * headers and query, where other providers take keys.
 */
export const secretsOf = (client: OpenAI): readonly string[] => {
  // Protected in the SDK's types; there is no other way to what a ready-made client was given.
  const { defaultHeaders, defaultQuery } = client["_options"];
  return [client.apiKey, client.adminAPIKey, ...valuesIn(defaultHeaders), ...valuesIn(defaultQuery)].flatMap(parts);
};

/**
 * Refuses a base URL with a user name or a password: `fetch` refuses each request to it, with the whole URL in the
 * message.
 *
 * @throws TypeError
 */
export const refuseCredentials = (baseURL: string): void => {
  if (!URL.canParse(baseURL)) return;
  const { username, password, host } = new URL(baseURL);
  if (username === "" && password === "") return;
  throw new TypeError(
    `openaiChat: the base URL of ${host} holds a user name or a password; send them as a header, by defaultHeaders`,
  );
};

const valuesIn = (given: unknown): readonly unknown[] => {
  if (given instanceof Headers) return [...given.values()];
  if (typeof given !== "object" || given === null) return [];
  return Object.values(given).flat();
};

/** A header may hold a word before its secret, such as `Bearer`. */
const parts = (value: unknown): readonly string[] =>
  typeof value === "string" ? [value, ...value.split(" ").slice(1)] : [];
