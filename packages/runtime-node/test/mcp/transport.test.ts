import { ConfigurationError } from "@colloquy/machine";
import { expect, it } from "vitest";
import { Connection } from "../../src/mcp/connection.ts";
import { type McpOptions, mcpTools } from "../../src/mcp/index.ts";
import { rawServer } from "./raw-server.ts";
import { withoutSecrets } from "../../src/mcp/transport.ts";

it("takes values of the environment out of texts, and leaves words", () => {
  const clean = withoutSecrets({
    command: "serve",
    env: { KEY: "k-12345678", KEYS: "a=aaaaaaaa,b=bbbbbbbb", MODE: "fast" },
  });
  expect(clean("k-12345678 aaaaaaaa bbbbbbbb fast")).toBe("[redacted] [redacted] [redacted] fast");
});

it.each(["NGJkZDJhOTEtMWVk", "NGJkZDJhOTEtMWVkMi00"])("takes the key %s out of the path of an address", (key) => {
  const clean = withoutSecrets({ url: `https://example.com/s/${key}/mcp` });
  expect(clean(`Cannot POST /s/${key}/mcp`)).toBe("Cannot POST /s/[redacted]/mcp");
});

it.each<[unknown, string]>([
  [{}, 'needs the option "transport"'],
  [{ transport: "npx server" }, "transport is of type string"],
  [{ transport: {} }, "transport is none"],
  [{ transport: { command: "serve", argz: [] } }, 'no option "argz"'],
  [{ transport: { url: "secret-key@" } }, "transport.url is not a URL"],
  [{ transport: { url: "http://localhost", header: {} } }, 'no option "header"'],
  [{ transport: { command: "serve" }, name: "my files" }, 'stands before names of tools (got "my files")'],
  [
    { transport: { command: "serve" }, timeoutMs: 0 },
    "timeoutMs must be a whole number from 1 to 2,147,483,647 (got 0)",
  ],
  [{ transport: { command: "serve" }, maxTotalMs: 2_147_483_648 }, "maxTotalMs must be a whole number from 1 to"],
  [{ transport: { command: "serve" }, trusted: true }, 'no option "trusted"'],
])("refuses %j", async (options, words) => {
  // Cast: a caller in JavaScript may pass them.
  const refused = mcpTools(options as McpOptions);
  await expect(refused).rejects.toThrow(ConfigurationError);
  await expect(refused).rejects.toThrow(words);
});

it("takes the least and the largest limit", async () => {
  const limits = { maxCharacters: 1, maxTotalMs: 2_147_483_647 };
  const server = await mcpTools({ transport: rawServer({}).open, ...limits });
  expect(server.tools).toHaveLength(1);
  await server.close();
});

it("says the last that a process wrote to standard error which ended, without its secrets", async () => {
  const script = "console.error('x'.repeat(5000) + ' no file for k-12345678'); process.exit(3)";
  const opened = mcpTools({
    transport: { command: process.execPath, args: ["-e", script], env: { KEY: "k-12345678" } },
  });
  await expect(opened).rejects.toThrow(
    /the connection was lost\..* standard error: x{900,1000} no file for \[redacted\]$/,
  );
});

it("says nothing that an earlier process wrote to standard error", async () => {
  const script = "console.error('lost by ' + process.pid); process.exit(3)";
  const options = { server: "of two", timeoutMs: 60_000, maxTotalMs: 60_000, onListChanged: () => {} };
  const connection = new Connection({ ...options, transport: { command: process.execPath, args: ["-e", script] } });
  const failed = (): Promise<string> => connection.list().then(() => "listed", String);
  const [first, second] = [await failed(), await failed()];
  expect(first).toMatch(/standard error: (lost by \d+\s*)+$/);
  expect(second.split("lost by")).toHaveLength(first.split("lost by").length);
  await connection.close();
});

it.each([967, 980, 3_980])("shows no piece of a key %i characters before the end of standard error", async (behind) => {
  const script = `console.error('sk-proj-Zz9yXx8wVv7uTt6sRr5qQq4pPp3o ' + 'z '.repeat(${behind / 2})); process.exit(3)`;
  const opened = mcpTools({ transport: { command: process.execPath, args: ["-e", script] } });
  await expect(opened).rejects.toThrow(/^(?!.*(?:Zz9y|Rr5q|Pp3o)).* standard error: .*z$/);
});
