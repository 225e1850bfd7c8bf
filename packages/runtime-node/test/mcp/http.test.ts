import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mcpTools } from "../../src/mcp/index.ts";
import { callTool } from "./calls.ts";
import { plainTool, says } from "./raw-server.ts";

type Fetch = typeof fetch;

/** Makes a server by HTTP with sessions, of an older protocol, and counts the sessions that it began. */
const sessionServer = (answer: (method: unknown, request: Request) => Response | object) => {
  const server = { session: 0, isKeeping: true };
  const served: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const { id, method, params } = request.method === "POST" ? z.looseObject({}).parse(await request.json()) : {};
    if (method === "initialize") {
      server.session += 1;
      const { protocolVersion } = z.looseObject({ protocolVersion: z.string() }).parse(params);
      const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "old", version: "1" } };
      const headers = server.isKeeping ? { "mcp-session-id": `session ${server.session}` } : {};
      return Response.json({ jsonrpc: "2.0", id, result }, { headers });
    }
    if (method === "server/discover")
      return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
    if (id === undefined) return new Response(null, { status: request.method === "GET" ? 405 : 202 });
    if (method === "tools/list") return Response.json({ jsonrpc: "2.0", id, result: { tools: [plainTool("work")] } });
    const result = answer(method, request);
    return result instanceof Response ? result : Response.json({ jsonrpc: "2.0", id, result });
  };
  return Object.assign(server, { fetch: served });
};

describe("a server by HTTP", () => {
  it("fails without the secrets of its headers and address where an error quotes them, and with all other words", async () => {
    const quoting: Fetch = async (input, init) => {
      const address = input instanceof Request ? input.url : input.toString();
      throw new Error(
        `${new Headers(init?.headers).get("authorization")} is no key for ${address}, see ${"s".repeat(15)}`,
      );
    };
    const url =
      "http://user-of-it:pass%2Fword-1@localhost/s/NGJkZDJhOTEtMWVkMi00/words-of-15-abc/mcp?key=0123456%2F&s=abcde";
    const headers = { authorization: "Bearer key-of-the-header" };
    const failure = await mcpTools({ transport: { url, headers, fetch: quoting } }).catch(String);
    expect(failure).toContain("[redacted] is no key for http://[redacted]@localhost/s/[redacted]/words-of-15-abc");
    expect(failure).toContain("&s=abcde");
    expect(failure).toMatch(/^McpError: MCP server localhost: /);
    expect(failure).not.toMatch(/key-of-the-header|0123456|word-1|user-of-it/);
  });

  it.each([404, 400])("gets a call again where it has forgotten the session, and says %i", async (status) => {
    const server = sessionServer((_, request) =>
      request.headers.get("mcp-session-id") === `session ${server.session}`
        ? says(`session ${server.session}`)
        : new Response("no such session", { status }),
    );
    const opened = await mcpTools({ transport: { url: "http://localhost/mcp", fetch: server.fetch } });
    server.session = 7;
    expect(await callTool(opened, "work")).toEqual([{ type: "text", text: "session 8" }]);
    await opened.close();
  });

  it.each([
    ["says another status", 403, true],
    ["gave no session", 404, false],
  ])("gets a call once where it %s", async (_, status, isKeeping) => {
    let calls = 0;
    const server = sessionServer(() => ((calls += 1), new Response("refused here", { status })));
    server.isKeeping = isKeeping;
    const opened = await mcpTools({ transport: { url: "http://localhost/mcp", fetch: server.fetch } });
    await expect(callTool(opened, "work")).rejects.toThrow("refused here");
    expect([calls, server.session]).toEqual([1, 1]);
    await opened.close();
  });

  it("is broken off at an answer of more than ten million bytes", async () => {
    const large: Fetch = async () =>
      new Response("x".repeat(10_000_001), { headers: { "content-type": "application/json" } });
    const opening = mcpTools({ transport: { url: "http://localhost/mcp", fetch: large } });
    await expect(opening).rejects.toThrow("the server sent more than 10000000 bytes at once");
  });
});
