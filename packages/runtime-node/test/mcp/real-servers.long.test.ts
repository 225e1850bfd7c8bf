import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type McpTools, mcpTools } from "../../src/mcp/index.ts";
import { callTool, nameOf } from "./calls.ts";

const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json");
const everything = join(dirname(manifest), "dist/index.js");

/** Makes a process append its id to a file. The last id is the server's, after those that check its version. */
const noting = `data:text/javascript,${encodeURIComponent(
  'import { appendFileSync } from "node:fs"; appendFileSync(process.env.PROCESSES, `${process.pid} `);',
)}`;

describe("the reference server, by standard input and output", () => {
  let server: McpTools;
  const folder = mkdtempSync(join(tmpdir(), "colloquy-mcp-"));
  const processes = join(folder, "processes");
  beforeAll(async () => {
    const args = ["--import", noting, everything, "stdio"];
    const transport = { command: process.execPath, args, env: { PROCESSES: processes } };
    server = await mcpTools({ transport, name: "all" });
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it("has its tools, their results and its instructions", async () => {
    expect(server.tools.map(nameOf)).toEqual(expect.arrayContaining(["all_echo", "all_get-sum", "all_get-tiny-image"]));
    expect(server.problems).toEqual([]);
    expect(server.instructions).toContain("Everything");
    expect(await callTool(server, "all_echo", { message: "hi" })).toEqual([{ type: "text", text: "Echo: hi" }]);
    const image = { type: "image", url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) };
    expect(await callTool(server, "all_get-tiny-image")).toContainEqual(image);
    expect(await callTool(server, "all_get-structured-content", { location: "New York" })).toEqual([
      { type: "text", text: expect.stringContaining('"temperature":33') },
    ]);
    expect(JSON.stringify(await callTool(server, "all_get-resource-links", { count: 1 }))).toContain("demo://resource");
    expect(
      JSON.stringify(await callTool(server, "all_get-resource-reference", { resourceType: "Text", resourceId: 1 })),
    ).toContain("[resource demo://resource");
  });

  it("fails a call in its words", async () => {
    await expect(callTool(server, "all_get-sum", { a: "x" })).rejects.toThrow(
      /^MCP server all: .*Input validation error/,
    );
  });

  it("is killed in the middle of a call: the call fails, and the next starts it again", async () => {
    const calling = callTool(server, "all_trigger-long-running-operation", { duration: 60, steps: 60 });
    expect(await callTool(server, "all_echo", { message: "alive" })).toEqual([{ type: "text", text: "Echo: alive" }]);
    process.kill(Number(readFileSync(processes, "utf8").trim().split(" ").at(-1)), "SIGKILL");
    await expect(calling).rejects.toThrow("connection was lost");
    expect(await callTool(server, "all_echo", { message: "again" })).toEqual([{ type: "text", text: "Echo: again" }]);
  });
});

it("says which command could not be started", async () => {
  await expect(mcpTools({ transport: { command: "no-such-command" } })).rejects.toThrow(
    /MCP server no-such-command: .*ENOENT/,
  );
});

const handler = createMcpHandler(() => {
  const served = new McpServer({ name: "modern", version: "1" });
  const both = z.object({ a: z.number(), b: z.number() });
  served.registerTool("add", { inputSchema: both, outputSchema: z.object({ sum: z.number() }) }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
    structuredContent: { sum: a + b },
  }));
  served.registerTool("wait", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    waiting.resolve(null);
    await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve));
    stopped.resolve(null);
    return { content: [] };
  });
  return served;
});

const waiting = Promise.withResolvers<null>();
const stopped = Promise.withResolvers<null>();

describe("a server of the newest protocol, by HTTP", () => {
  it("adds, over a fetch that is given", async () => {
    const seen = vi.fn((input: string | URL | Request, init?: RequestInit) => handler.fetch(new Request(input, init)));
    const headers = { authorization: "Bearer abc" };
    const server = await mcpTools({ transport: { url: "http://localhost/mcp", headers, fetch: seen } });
    expect(await callTool(server, "add", { a: 1, b: 2 })).toEqual([{ type: "text", text: "3" }]);
    expect(new Headers(seen.mock.lastCall?.[1]?.headers).get("authorization")).toBe("Bearer abc");
    await server.close();
  });

  it("adds over a socket, and sees that a call is cancelled", async () => {
    await using loopback = await listening();
    const server = await mcpTools({ transport: { url: `${loopback.url}/mcp` } });
    expect(await callTool(server, "add", { a: 1, b: 2 })).toEqual([{ type: "text", text: "3" }]);
    const controller = new AbortController();
    const calling = callTool(server, "wait", {}, controller.signal);
    await waiting.promise;
    controller.abort(new Error("enough"));
    await expect(calling).rejects.toThrow("enough");
    await stopped.promise;
    await server.close();
  });
});

/** Starts a server with the handler. */
const listening = async () => {
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const over = new AbortController();
      response.on("close", () => over.abort());
      const { method = "GET", headers, url } = request;
      const body = method === "GET" ? {} : { body: Buffer.concat(chunks) };
      const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
      const answer = await handler.fetch(
        new Request(`http://localhost${url}`, { method, headers: given, ...body, signal: over.signal }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // Cast: a server on a port has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
