import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { openaiChat, type OpenAiChatOptions } from "../../../src/llm/openai.ts";
import { perform } from "../call.ts";
import { chatServer } from "../server.ts";

const apiKey = "sk-test-key-0123456789";
const headers = { "api-key": "azure-secret-1" };

/** Starts another host, which would answer, and records its requests. */
const elsewhere = async (): Promise<{ readonly host: string; readonly requests: string[] }> => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ choices: [{ message: { content: "caught" }, finish_reason: "stop" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // Cast: a server on a port has such an address.
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, requests };
};

const ways: readonly (readonly [string, (baseURL: string) => OpenAiChatOptions])[] = [
  ["as a rule", (baseURL) => ({ baseURL, apiKey, organization: "org-of-ours", defaultHeaders: headers })],
  ["by a client of the caller's", (baseURL) => ({ client: new OpenAI({ baseURL, apiKey, defaultHeaders: headers }) })],
  ["although it should", (baseURL) => ({ baseURL, apiKey, fetchOptions: { redirect: "follow" } })],
  ["in plain answers", (baseURL) => ({ baseURL, apiKey, stream: false, defaultHeaders: headers })],
];

test.each(ways)("a redirect is not followed, %s", async (_, options) => {
  const target = await elsewhere();
  for (const status of [301, 302, 303, 307, 308]) {
    const location = `http://ada:lovelace@${target.host}/v2/chat?key=${apiKey}#part`;
    const { baseURL } = await chatServer((_request, response) => {
      response.writeHead(status, { location, "retry-after": "1", "x-should-retry": "true" }).end();
    });
    const outcome = await perform(openaiChat(options(baseURL))).outcome;
    expect(outcome).toEqual({
      type: "failed",
      failure: {
        kind: "unknown",
        retryable: false,
        status,
        message: `the server redirects (${status}) to http://${target.host}/v2/chat; redirects are not followed, lest key and prompt reach another host: check the base URL`,
      },
    });
  }
  expect(target.requests).toEqual([]);
});

test.each<[string | undefined, RegExp]>([
  [undefined, /redirects \(302\) and does not say where to;/],
  ["http://[", /redirects \(302\) and does not say where to;/],
  ["/v2/chat?key=1", /redirects \(302\) to http:\/\/127\.0\.0\.1:\d+\/v2\/chat;/],
  ["//other.example:8443/chat", /redirects \(302\) to http:\/\/other\.example:8443\/chat;/],
  [`https://other.example/${encodeURIComponent(apiKey)}/x`, /to https:\/\/other\.example\/\[redacted\]\/x;/],
  ["https://other.example/in/0123456789abcdef0123456789abcdef", /to https:\/\/other\.example\/in\/\[redacted\];/],
])("the target of a redirect to %s is told without secrets", async (location, words) => {
  const { baseURL } = await chatServer((_, response) => {
    response.writeHead(302, location === undefined ? {} : { location }).end();
  });
  const outcome = await perform(openaiChat({ baseURL, apiKey })).outcome;
  expect(outcome).toMatchObject({ failure: { retryable: false, message: expect.stringMatching(words) } });
});

test.each([300, 304, 305, 306])("status %s is no answer, and nothing to try again", async (status) => {
  const { baseURL } = await chatServer((_, response) => void response.writeHead(status).end());
  expect(await perform(openaiChat({ baseURL, apiKey })).outcome).toMatchObject({
    failure: { status, retryable: false, message: expect.stringContaining(`redirects (${status}) and does not say`) },
  });
});

test("an answer that a fetch of the caller's own got elsewhere is not believed", async () => {
  const target = await elsewhere();
  const { baseURL } = await chatServer((_, response) => {
    response.writeHead(307, { location: `http://${target.host}/v2/chat?key=1` }).end();
  });
  const handler = openaiChat({ baseURL, apiKey, fetch: (url, init) => fetch(url, { ...init, redirect: "follow" }) });
  expect(await perform(handler).outcome).toMatchObject({
    type: "failed",
    failure: { retryable: false, message: expect.stringContaining(`to http://${target.host}/v2/chat;`) },
  });
});
