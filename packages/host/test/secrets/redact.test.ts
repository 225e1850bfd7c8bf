import { expect, test } from "vitest";
import { charactersRead, redact, secretsOf } from "../../src/secrets/redact.ts";

test.each([
  ["Incorrect API key provided: sk-proj-abc123DEF456ghi. Find it at https://example.org/keys.", "abc123"],
  ["Incorrect API key provided: test-con****-key.", "test-con"],
  ["Your api key: ****1234 is invalid", "1234"],
  ["API key 'hello-world' is disabled", "hello-world"],
  ["x-api-key: hunter2", "hunter2"],
  ['{"authorization":"Bearer abcdefgh12345678"}', "abcdefgh12345678"],
  ["https://user:pass@example.org/v1 failed", "pass"],
  ["GET /models?key=AIzaSyA1234567890&alt=sse", "AIzaSyA1234567890"],
  ["bad key 0123456789abcdef0123456789abcdef here", "0123456789abcdef"],
  ["gsk_abcdefghij1234567890 is wrong", "gsk_abc"],
  ["AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "K7MDENG"],
  ["private_key: 'hunter2-of-mine'", "hunter2"],
  ['{"cookie":"session=abcdefgh12345678"}', "abcdefgh"],
  ["whsec_abcdefghijklmnop is wrong", "abcdefgh"],
  ["GOCSPX-abcdefghijk123 is wrong", "abcdefgh"],
  ["ya29.a0AfH6SMBx_abcdefghijklmnop-12 expired", "a0AfH6"],
  [`npm_${"abcdefghijklmnopqr".repeat(2)} is wrong`, "abcdefgh"],
])("%s", (text, secret) => {
  expect(redact(text)).toContain("[redacted]");
  expect(redact(text)).not.toContain(secret);
});

test.each([
  "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
  "Item 'rs_68c42de022c881948db7ed1cc2529f2e0202c9ad459e0d23' of type 'reasoning' was provided",
  "request 123e4567-e89b-12d3-a456-426614174000 failed",
  "Unexpected token: }",
  "at file:///app/node_modules/@colloquy/host/dist/index.js:3:5",
  "Missing required parameter: 'messages[1].content[0].type'.",
  "Bearer authentication required",
  "see npm-debug.log, npm_config_registry and the primary key of the table",
  "max_tokens: 5 is too small for task-force-oriented risk-assessment",
])("leaves alone: %s", (text) => {
  expect(redact(text)).toBe(text);
});

test("takes out the secrets that it is told, whatever they look like", () => {
  expect(redact("the word is open sesame, open sesame!", ["open sesame", ""])).toBe(
    "the word is [redacted], [redacted]!",
  );
});

test.each(["x-password=hunter2", "--password=hunter2", "a.my-db-password: hunter2"])(
  "a name with hyphens: %s",
  (text) => {
    expect(redact(text)).not.toContain("hunter2");
  },
);

test("redact reads the first 4096 characters of a text, and drops the rest", () => {
  expect(charactersRead).toBe(4096);
  const text = " a".repeat(3_000);
  expect(redact(text)).toBe(text.slice(0, 4096));
});

test("the secrets of foreign code are its texts, and none if it fails, which is reported", () => {
  const failures: unknown[] = [];
  const noted = (thrown: unknown): void => void failures.push(thrown);
  // Callers in JavaScript may pass any value.
  const odd = ["a", 7, null, "b"] as unknown as readonly string[];
  expect(secretsOf(() => odd, noted)).toEqual(["a", "b"]);
  expect(secretsOf(() => undefined, noted)).toEqual([]);
  expect(failures).toEqual([]);
  const fail = (): never => {
    throw new Error("broken");
  };
  expect([secretsOf(fail, noted), secretsOf(fail)]).toEqual([[], []]);
  expect(failures.map(String)).toEqual(["Error: broken"]);
});
