import { describe, expect, it } from "vitest";
import { type McpOptions, mcpTools } from "../../src/mcp/index.ts";
import { callTool, nameOf } from "./calls.ts";
import { type Answer, plainTool, rawServer, says } from "./raw-server.ts";

const connect = (answers: Parameters<typeof rawServer>[0], options: Partial<McpOptions> = {}) =>
  mcpTools({ transport: rawServer(answers).open, ...options });

const text = (words: string) => ({ type: "text", text: words });

describe("a result of a server's tool", () => {
  const resource = (members: object) => ({ type: "resource", resource: { uri: "file:///a", ...members } });
  it.each<[string, object, unknown]>([
    ["text", text("one"), text("one")],
    [
      "an image",
      { type: "image", mimeType: "image/png", data: "AAAA" },
      { type: "image", url: "data:image/png;base64,AAAA" },
    ],
    [
      "audio",
      { type: "audio", mimeType: "audio/wav", data: "AAAAAAA=" },
      text("[audio, audio/wav, 5 bytes; it can't be shown]"),
    ],
    [
      "a link",
      { type: "resource_link", uri: "file:///a", name: "a", description: "the first" },
      text("[a resource, a, file:///a, the first]"),
    ],
    [
      "a link with a type",
      { type: "resource_link", uri: "file:///a", name: "a", mimeType: "text/plain" },
      text("[a resource, a, file:///a, text/plain]"),
    ],
    ["a text resource", resource({ text: "one" }), text("[resource file:///a]\none")],
    [
      "an image resource",
      resource({ mimeType: "image/gif", blob: "AAAA" }),
      { type: "image", url: "data:image/gif;base64,AAAA" },
    ],
    [
      "another resource",
      resource({ mimeType: "application/zip", blob: "AAAAAA==" }),
      text("[resource file:///a, application/zip, 4 bytes; it can't be shown]"),
    ],
    [
      "a resource of no type",
      resource({ blob: "AAAA" }),
      text("[resource file:///a, binary, 3 bytes; it can't be shown]"),
    ],
  ])("that is %s is shown to the model", async (_, block, shown) => {
    const server = await connect({ call: () => ({ content: [block, text("and more")] }) });
    expect(await callTool(server, "work")).toEqual([shown, text("and more")]);
    await server.close();
  });

  it("has its structured content as a text unless it has a text, and is null if it has nothing", async () => {
    const image = { type: "image", mimeType: "image/png", data: "AAAA" };
    const shown = { type: "image", url: "data:image/png;base64,AAAA" };
    const results: object[] = [
      { content: [image], structuredContent: { a: 1 } },
      { content: [text("a is 1")], structuredContent: { a: 1 } },
      { content: [] },
    ];
    const server = await connect({ call: () => results.shift() });
    expect(await callTool(server, "work")).toEqual([shown, text('{"a":1}')]);
    expect(await callTool(server, "work")).toEqual([text("a is 1")]);
    expect(await callTool(server, "work")).toBeNull();
    await server.close();
  });

  it("may be as large as the limit, which counts texts and images", async () => {
    const image = { type: "image", mimeType: "image/png", data: "A".repeat(78) };
    const results = [100, 101].map((size) => ({ content: [image, text("x".repeat(size - 100))] }));
    const server = await connect({ call: () => results.shift() }, { maxCharacters: 100 });
    expect(await callTool(server, "work")).toHaveLength(2);
    await expect(callTool(server, "work")).rejects.toThrow(
      "MCP server of the given transport: its result has 101 characters; 100 are allowed. Ask for less.",
    );
    await server.close();
    const large = [1_000_000, 1_000_001].map((size) => says("x".repeat(size)));
    const unlimited = await connect({ call: () => large.shift() });
    expect(await callTool(unlimited, "work")).toHaveLength(1);
    await expect(callTool(unlimited, "work")).rejects.toThrow("1000001 characters; 1000000 are allowed");
    await unlimited.close();
  });

  it("that is an error fails the call with its texts, or says that it is one", async () => {
    const contents = [[text("no file"), text("of this name")], [], [text("x".repeat(3_000))]];
    const server = await connect({ call: () => ({ content: contents.shift(), isError: true }) }, { name: "files" });
    const failed = async (): Promise<string> => callTool(server, "files_work").then(String, String);
    expect(await failed()).toBe("McpError: MCP server files: no file\nof this name");
    expect(await failed()).toBe("McpError: MCP server files: it says that the call failed");
    expect(await failed()).toBe(`McpError: MCP server files: ${"x".repeat(2_000)}`);
    await server.close();
  });
});

describe("a list of a server's tools", () => {
  it("is read page by page, up to 64 pages", async () => {
    const pages =
      (count: number): Answer =>
      ({ cursor }) => {
        const page = Number(cursor ?? 1);
        return { tools: [plainTool(`t${page}`)], ...(page < count && { nextCursor: String(page + 1) }) };
      };
    const server = await connect({ list: pages(64) });
    expect(server.tools.map(nameOf)).toEqual(Array.from({ length: 64 }, (_, at) => `t${at + 1}`));
    await server.close();
    await expect(connect({ list: pages(65) })).rejects.toThrow("its list of tools has more than 64 pages");
  });

  it("of 1,000 is taken whole", async () => {
    const tools = Array.from({ length: 1_000 }, (_, at) => plainTool(`t${at}`));
    const server = await connect({ list: () => ({ tools }) });
    expect([server.tools.length, server.problems]).toEqual([1_000, []]);
    await server.close();
  });

  it("says where a tool is wrong, and which one was twice", async () => {
    const tools = [
      { name: "wrong", inputSchema: { type: "string" } },
      { name: "", inputSchema: { type: "object" } },
      { name: "properties", inputSchema: { type: "object", properties: "none" } },
      plainTool("good"),
      plainTool("good"),
    ];
    const server = await connect({ list: () => ({ tools }) });
    expect(server.problems).toEqual([
      { name: "wrong", problem: expect.stringMatching(/^inputSchema\.type: ./) },
      { name: "", problem: expect.stringMatching(/^name: ./) },
      { name: "properties", problem: expect.stringMatching(/^inputSchema: .*properties/) },
      { name: "good", problem: "it is listed twice; the first one counts" },
    ]);
    await server.close();
  });

  it("shows the description of a tool, or else its title, without `$schema`, and names of at most 64 characters", async () => {
    const inputSchema = { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties: {} };
    const names = ["described", "titled", "x".repeat(60), "y".repeat(61)];
    const tools = names.map((name) => ({
      name,
      ...(name === "described" && { description: "a description" }),
      title: "a title",
      inputSchema,
    }));
    const server = await connect({ list: () => ({ tools }) }, { name: "all" });
    expect(server.tools.map(({ declaration }) => [declaration.name, declaration.description])).toEqual([
      ["all_described", "a description"],
      ["all_titled", "a title"],
      [`all_${"x".repeat(60)}`, "a title"],
      [expect.stringMatching(/^all_y{51}_[a-zA-Z0-9]{8}$/), "a title"],
    ]);
    expect(server.tools[0]?.declaration.parameters).toEqual({ type: "object", properties: {} });
    await server.close();
  });

  it("has the tools for which an approval is wanted, without hints unless the server is trusted", async () => {
    const read = { ...plainTool("read"), annotations: { readOnlyHint: true } };
    const list: Answer = () => ({ tools: [read, plainTool("write")] });
    const approvals = async (options: Partial<McpOptions>): Promise<readonly unknown[]> => {
      const server = await connect({ list }, options);
      await server.close();
      return server.tools.map(({ declaration }) => declaration.approval);
    };
    expect(await approvals({})).toEqual([undefined, undefined]);
    expect(await approvals({ approval: "always" })).toEqual(["always", "always"]);
    expect(await approvals({ approval: ({ name }) => name === "write" })).toEqual([undefined, "always"]);
    expect(await approvals({ approval: ({ annotations }) => annotations !== undefined })).toEqual([
      undefined,
      undefined,
    ]);
    expect(await approvals({ trust: true, approval: ({ annotations }) => annotations !== undefined })).toEqual([
      "always",
      undefined,
    ]);
  });
});

it("has the instructions of a server, if it gives any, and no connection after it was closed", async () => {
  const server = await connect({ instructions: "Be brief." });
  expect(server.instructions).toBe("Be brief.");
  await server[Symbol.asyncDispose]();
  await expect(server.refresh()).rejects.toThrow("MCP server of the given transport: mcpTools was closed");
  const silent = await mcpTools({ transport: rawServer({}).open(), name: "silent" });
  expect(silent.instructions).toBeNull();
  await silent.close();
});
