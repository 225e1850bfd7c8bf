import { describe, expect, it, onTestFinished } from "vitest";
import { openSearchServer, type OpenSearchServerOptions } from "../../src/opensearch/index.ts";
import { virtualClock } from "../../src/ports/virtual-clock.ts";
import { requested, type Response } from "./request.ts";

type Ask = (method: string, path: string, body?: unknown, user?: string) => Promise<Response>;

const base = "/_plugins/_ml/memory";

/** Starts a server, and returns a function that sends it requests below the memory API. */
const asking = async (options: OpenSearchServerOptions = { version: "3.0" }): Promise<Ask> => {
  const server = await openSearchServer(options);
  onTestFinished(() => server.close());
  return (method, path, body, user) =>
    requested(path.startsWith("//") ? server.url + path.slice(1) : `${server.url}${base}${path}`, {
      method,
      body,
      headers: user === undefined ? {} : { authorization: `Basic ${btoa(`${user}:secret`)}` },
    });
};

/** Returns the id in an answer. */
const idOf = ({ body }: Response): string => String(Object.values(body as object)[0]);

const memoryOf = async (ask: Ask, body: unknown = { name: "c1" }, user?: string): Promise<string> =>
  idOf(await ask("POST", "", body, user));

const refused = (status: number, type: string, reason: string): unknown =>
  expect.objectContaining({
    status,
    body: expect.objectContaining({
      status,
      error: expect.objectContaining({ type, reason, root_cause: [expect.objectContaining({ type, reason })] }),
    }),
  });

const invalid = (reason: string): unknown =>
  refused(400, "action_request_validation_exception", `Validation Failed: 1: ${reason};`);

describe("pages", () => {
  it("have limits, each with its words", async () => {
    const ask = await asking();
    const id = await memoryOf(ask);
    const messageId = idOf(await ask("POST", `/${id}/messages`, { input: "q" }));
    const nonnegative = invalid("The starting position must be nonnegative");
    for (const size of ["0", "-1"]) {
      expect(await ask("GET", `?max_results=${size}`)).toEqual(invalid("Can't list 0 or negative conversations"));
      expect(await ask("GET", `/${id}/messages?max_results=${size}`)).toEqual(
        invalid("The number of interactions to retrieve must be positive"),
      );
      expect(await ask("GET", `/message/${messageId}/traces?max_results=${size}`)).toEqual(
        invalid("The number of traces to retrieve must be positive"),
      );
    }
    expect(await ask("GET", `/${id}/messages?next_token=-1`)).toEqual(nonnegative);
    expect(await ask("GET", `/message/${messageId}/traces?next_token=-1`)).toEqual(nonnegative);
    expect(await ask("GET", "?next_token=-1")).toMatchObject({ status: 400 });
    expect(await ask("GET", "?max_results=ten")).toEqual(
      refused(400, "number_format_exception", 'For input string: "ten"'),
    );
    expect(await ask("GET", "?max_results=10000")).toMatchObject({ status: 200 });
    const far = await ask("GET", "?max_results=1&next_token=10000");
    expect(far).toMatchObject({ status: 400, body: { error: { type: "search_phase_execution_exception" } } });
    expect(JSON.stringify(far.body)).toContain("must be less than or equal to: [10000] but was [10001]");
    expect(await ask("GET", "?size=3")).toEqual(
      refused(400, "illegal_argument_exception", `request [${base}] contains unrecognized parameter: [size]`),
    );
  });

  it("of memories have the one first that was written to last, and equal times in the order of writing", async () => {
    const ask = await asking();
    const [first, second] = [await memoryOf(ask), await memoryOf(ask)];
    await ask("POST", `/${first}/messages`, { input: "q" });
    expect(await ask("GET", "")).toMatchObject({ body: { memories: [{ memory_id: first }, { memory_id: second }] } });
    await ask("PUT", `/${second}`, { name: "new", user: "nobody" });
    expect(await ask("GET", "")).toMatchObject({ body: { memories: [{ memory_id: second, name: "new" }, {}] } });

    const tied = await asking({ version: "3.0", clock: virtualClock() });
    const ids = [await memoryOf(tied), await memoryOf(tied)];
    const { body } = await tied("GET", "");
    expect(body).toMatchObject({ memories: [{ memory_id: ids[0] }, { memory_id: ids[1] }] });
    expect(
      new Set(
        Object.values(body as { memories: { create_time: string }[] })
          .flat()
          .map((each) => each.create_time),
      ).size,
    ).toBe(1);
  });
});

describe("written values", () => {
  it("is lost in silence where the service loses it", async () => {
    const ask = await asking();
    const nameless = await memoryOf(ask, { application_type: "a", additional_info: { k: "v" } });
    expect((await ask("GET", `/${nameless}`)).body).toEqual({
      memory_id: nameless,
      create_time: "2026-01-01T00:00:00.000Z",
      updated_time: "2026-01-01T00:00:00.000Z",
      name: null,
    });
    const id = await memoryOf(ask, { name: "c1", additional_info: { k: "v" } });
    expect((await ask("GET", `/${id}`)).body).toMatchObject({ name: "c1", additional_info: { k: "v" } });
    const draft = { input: "q", response: " ", prompt: "no such field", additional_info: '{"k":1}', trace_number: 1 };
    const messageId = idOf(await ask("POST", `/${id}/messages`, draft));
    expect((await ask("GET", `/message/${messageId}`)).body).toEqual({
      memory_id: id,
      message_id: messageId,
      create_time: expect.any(String),
      input: "q",
    });
    const texts = idOf(await ask("POST", `/${id}/messages`, { additional_info: { n: 1, b: true } }));
    expect((await ask("GET", `/message/${texts}`)).body).toMatchObject({ additional_info: { n: "1", b: "true" } });
    expect(
      await ask("PUT", `/message/${texts}`, { input: "new", response: "a", additional_info: { more: "m" } }),
    ).toMatchObject({
      status: 200,
      body: { _index: ".plugins-ml-memory-message", _id: texts, _version: 2, result: "updated" },
    });
    const { body } = await ask("GET", `/message/${texts}`);
    expect(body).toMatchObject({ response: "a", additional_info: { n: "1", more: "m" } });
    expect(body).not.toHaveProperty("input");
  });

  it("is refused where the service refuses it", async () => {
    const ask = await asking();
    const id = await memoryOf(ask);
    const empty = { input: "", prompt_template: " ", additional_info: "text", origin: "" };
    const reason =
      "At least one of the following parameters must be non-empty: input, prompt_template, response, origin, additional_info";
    expect(await ask("POST", `/${id}/messages`, {})).toEqual(refused(400, "illegal_argument_exception", reason));
    expect(await ask("POST", `/${id}/messages`, empty)).toEqual(refused(400, "illegal_argument_exception", reason));
    expect(await ask("POST", `/${id}/messages`)).toMatchObject({ status: 400 });
    expect(await ask("POST", `/${id}/messages`, { additional_info: { nested: {} } })).toEqual(
      refused(500, "illegal_state_exception", "Can't get text on a START_OBJECT"),
    );
    expect(await ask("POST", "", { name: "c1", additional_info: "text" })).toMatchObject({ status: 400 });
    expect(await ask("PUT", `/${id}`)).toEqual(
      refused(400, "parse_exception", "Failed to update conversation: Request body is empty"),
    );
    expect(await ask("PUT", `/${id}`, { name: null })).toMatchObject({ status: 500 });
  });

  it("goes with its memory, but for traces, which nobody can read then", async () => {
    const ask = await asking();
    const [id, other] = [await memoryOf(ask), await memoryOf(ask)];
    const message = idOf(await ask("POST", `/${id}/messages`, { input: "q" }));
    const trace = idOf(
      await ask("POST", `/${id}/messages`, { input: "t", parent_message_id: message, trace_number: 1 }),
    );
    const kept = idOf(await ask("POST", `/${other}/messages`, { input: "q" }));
    expect((await ask("DELETE", `/${id}`)).body).toEqual({ success: true });
    expect(await ask("GET", `/message/${message}`)).toEqual(
      refused(404, "resource_not_found_exception", `Message [${message}] not found`),
    );
    expect(await ask("GET", `/message/${trace}`)).toEqual(
      refused(404, "resource_not_found_exception", `Memory [${id}] not found`),
    );
    expect(await ask("GET", `/message/${kept}`)).toMatchObject({ status: 200 });
    expect(await ask("DELETE", `/${id}`)).toMatchObject({ status: 404 });
  });
});

describe("a missing resource", () => {
  it("is another thing before anything was written", async () => {
    const ask = await asking();
    expect((await ask("GET", "")).body).toEqual({ memories: [] });
    expect((await ask("GET", "/m1/messages")).body).toEqual({ messages: [] });
    expect((await ask("GET", "/message/m1/traces")).body).toEqual({ traces: [] });
    expect((await ask("DELETE", "/m1")).body).toEqual({ success: true });
    expect(await ask("GET", "/m1")).toEqual(
      refused(404, "index_not_found_exception", "cannot get memory since the memory index does not exist"),
    );
    expect(await ask("PUT", "/m1", { name: "n" })).toMatchObject({ status: 404 });
    expect(await ask("GET", "/message/m1")).toMatchObject({ status: 404 });
    expect(await ask("PUT", "/message/m1", { response: "r" })).toMatchObject({ status: 404 });
    expect(await ask("POST", "/_search", { query: { match_all: {} } })).toMatchObject({ status: 404 });

    await memoryOf(ask);
    expect(await ask("GET", "/m1")).toEqual(refused(404, "resource_not_found_exception", "Memory [m1] not found"));
    expect((await ask("GET", "/m1/messages")).body).toEqual({ messages: [] });
    expect(await ask("POST", "/m1/messages", { input: "q" })).toMatchObject({ status: 404 });
    expect(await ask("GET", "/m1/messages")).toEqual(
      refused(404, "resource_not_found_exception", "Memory [m1] not found"),
    );
    expect(await ask("PUT", "/message/m1", { response: "r" })).toMatchObject({ status: 404 });
  });

  it("is an unknown path", async () => {
    const ask = await asking();
    expect(await ask("POST", "/m1", {})).toMatchObject({
      status: 405,
      body: {
        error: `Incorrect HTTP method for uri [${base}/m1] and method [POST], allowed: [GET, PUT, DELETE]`,
        status: 405,
      },
      headers: { allow: "GET,PUT,DELETE" },
    });
    expect(await ask("GET", "/a/b/c")).toMatchObject({
      status: 400,
      body: { error: `no handler found for uri [${base}/a/b/c] and method [GET]` },
    });
    expect(await ask("GET", "//nothing")).toMatchObject({ status: 404 });
    expect(await ask("GET", "//")).toMatchObject({ status: 200, body: { version: { number: "3.0.0" } } });
  });
});

describe("access to a memory", () => {
  it("is for its author", async () => {
    const ask = await asking();
    const id = await memoryOf(ask, { name: "c1" }, "ada");
    const message = idOf(await ask("POST", `/${id}/messages`, { input: "q" }, "ada"));
    const denied = (what: string): unknown =>
      refused(401, "status_exception", `User [bob] does not have access to ${what}`);
    expect(await ask("GET", `/${id}`, undefined, "ada")).toMatchObject({ status: 200, body: { user: "ada" } });
    expect(await ask("GET", `/${id}`, undefined, "bob")).toEqual(denied(`memory ${id}`));
    expect(await ask("POST", `/${id}/messages`, { input: "q" }, "bob")).toEqual(denied(`memory ${id}`));
    expect(await ask("GET", `/${id}/messages`, undefined, "bob")).toEqual(denied(`memory ${id}`));
    expect(await ask("GET", `/message/${message}`, undefined, "bob")).toEqual(denied(`message ${message}`));
    expect(await ask("DELETE", `/${id}`, undefined, "bob")).toEqual(
      refused(404, "status_exception", `Resources not found. Failed to delete the memory for ${id}`),
    );
    expect((await ask("GET", "", undefined, "bob")).body).toEqual({ memories: [] });
    const search = { query: { match_all: {} } };
    expect(await ask("GET", "/_search", search, "bob")).toMatchObject({ body: { hits: { total: { value: 0 } } } });
    expect(await ask("GET", "/_search", search, "ada")).toMatchObject({ body: { hits: { total: { value: 1 } } } });
    expect(await ask("GET", `/${id}`)).toMatchObject({ status: 200 });
  });

  it("is for no user if the feature is switched off", async () => {
    const setting = "plugins.ml_commons.memory_feature_enabled";
    const words = `Conversation Memory feature is not enabled. To enable, please update the setting ${setting}`;
    const ask = await asking({ version: "3.0", memoryFeatureEnabled: false });
    expect(await ask("GET", "")).toEqual(refused(500, "exception", `The ${words}`));
    expect(await ask("GET", "?max_results=0")).toMatchObject({ status: 400 });
    const legacy = await asking({ version: "2.11", memoryFeatureEnabled: false });
    expect(await legacy("GET", "/conversation")).toEqual(refused(500, "exception", `The experimental ${words}`));
  });
});

describe("a search", () => {
  const found = async (ask: Ask, id: string, body: object): Promise<readonly string[]> => {
    const answer = await ask("POST", `/${id}/_search`, body);
    expect(answer).toMatchObject({ status: 200 });
    const { hits } = answer.body as { hits: { hits: { _source: { input: string } }[] } };
    return hits.hits.map(({ _source }) => _source.input);
  };

  it("finds by words and by values, in pages and in order", async () => {
    const ask = await asking();
    const id = await memoryOf(ask);
    const first = idOf(await ask("POST", `/${id}/messages`, { input: "What's the best novel?", origin: "Web App" }));
    await ask("POST", `/${id}/messages`, { input: "The novel of all time", additional_info: { topic: "books" } });
    await ask("POST", `/${id}/messages`, { input: "Trace", parent_message_id: first, trace_number: 3 });
    const [best, all, trace] = ["What's the best novel?", "The novel of all time", "Trace"];
    const searches: readonly (readonly [object, readonly string[]])[] = [
      [{ match_all: {} }, [best, all, trace]],
      [{ match: { input: "NOVEL nothing" } }, [best, all]],
      [{ term: { input: "Novel" } }, []],
      [{ term: { origin: "Web App" } }, [best]],
      [{ match: { origin: "Web" } }, []],
      [{ term: { "additional_info.topic": "books" } }, [all]],
      [{ term: { trace_number: 3 } }, [trace]],
      [{ term: { trace_number: { value: 3 } } }, [trace]],
      [{ match: { input: { query: "NOVEL nothing" } } }, [best, all]],
    ];
    for (const [query, inputs] of searches)
      expect({ query, found: await found(ask, id, { query }) }).toEqual({ query, found: inputs });
    const query = { match_all: {} };
    expect(await found(ask, id, { query, from: 1, size: 1 })).toEqual([all]);
    expect(await found(ask, id, { query, sort: [{ create_time: "desc" }] })).toEqual([trace, all, best]);
    expect(await found(ask, id, { query, sort: { trace_number: { order: "asc" } } })).toEqual([trace, best, all]);
  });

  it("is refused if the service cannot read it", async () => {
    const ask = await asking();
    const id = await memoryOf(ask);
    await ask("POST", `/${id}/messages`, { input: "q" });
    const search = (body?: object): Promise<Response> => ask("POST", `/${id}/_search`, body);
    expect(await search({ query: { semantic: {} } })).toEqual(
      refused(400, "parsing_exception", "unknown query [semantic]: openSearchServer answers match_all, match and term"),
    );
    for (const body of [
      undefined,
      {},
      { query: {} },
      { query: { match: "q" } },
      { aggs: {} },
      { query: { bool: { must: [] } } },
      { query: { match: { input: { value: "q" } } } },
      { query: { term: { input: { query: "q" } } } },
      { query: { match_all: {}, term: {} } },
    ]) {
      expect({ body, status: (await search(body)).status }).toEqual({ body, status: 400 });
    }
    const query = { match_all: {} };
    for (const sort of ["input", "nothing", { create_time: "up" }]) {
      expect({ sort, status: (await search({ query, sort })).status }).toEqual({ sort, status: 400 });
    }
    expect((await search({ query, size: 10_001 })).status).toBe(400);
  });
});

it("2.10 and 2.11 have conversations and interactions, newest first, with additional_info as text", async () => {
  const ask = await asking({ version: "2.11" });
  expect((await ask("GET", "/conversation")).body).toEqual({ conversations: [] });
  const id = idOf(await ask("POST", "/conversation", undefined, "ada"));
  const named = idOf(await ask("POST", "/conversation", { name: "c1" }, "ada"));
  expect((await ask("GET", "/conversation")).body).toMatchObject({
    conversations: [
      { conversation_id: named, name: "c1", user: "ada" },
      { conversation_id: id, name: null },
    ],
  });
  await ask("POST", `/conversation/${id}`, { input: "H1", response: "A1", additional_info: '{"k":1}' });
  const second = idOf(await ask("POST", `/conversation/${id}`, { input: "H2" }));
  expect((await ask("GET", `/conversation/${id}?max_results=2`)).body).toMatchObject({
    interactions: [
      { interaction_id: second, conversation_id: id, input: "H2", response: null },
      { input: "H1", response: "A1", additional_info: '{"k":1}' },
    ],
    next_token: 2,
  });
  expect(await ask("POST", `/conversation/${id}`, { additional_info: {} })).toMatchObject({ status: 500 });
  expect(await ask("GET", `/conversation/${id}`, undefined, "bob")).toEqual(
    refused(500, "security_exception", `User [bob] does not have access to conversation ${id}`),
  );
  expect(await ask("GET", "/conversation/c9")).toEqual(
    refused(404, "resource_not_found_exception", "Conversation [c9] not found"),
  );
  expect((await ask("DELETE", `/conversation/${id}`)).body).toEqual({ success: true });
  expect(await ask("GET", `/conversation/${id}`)).toMatchObject({ status: 404 });
  expect(await ask("GET", "")).toMatchObject({ status: 400 });
});

describe("the forms of a request", () => {
  it("is a path as it came, whatever its ids, with a slash behind it or none", async () => {
    const ask = await asking();
    const id = await memoryOf(ask);
    expect(await ask("GET", `/${id}/`)).toMatchObject({ status: 200, body: { memory_id: id } });
    expect(await ask("GET", "/?max_results=1")).toMatchObject({ status: 200, body: { memories: [{ memory_id: id }] } });
    for (const odd of ["%2e%2e", "a%2Fb", "a%20b", "%E6%BD%AE"]) {
      const reason = `Memory [${decodeURIComponent(odd)}] not found`;
      expect(await ask("GET", `/${odd}`)).toEqual(refused(404, "resource_not_found_exception", reason));
    }
  });

  it("has names that objects of JavaScript have as well", async () => {
    const ask = await asking();
    // JSON may have this, unlike a literal.
    const info: unknown = JSON.parse('{ "__proto__": "p", "constructor": "c" }');
    const id = await memoryOf(ask, { name: "c1", additional_info: info });
    expect((await ask("PUT", `/${id}`, { additional_info: JSON.parse('{ "__proto__": "q" }') })).status).toBe(200);
    const read = await ask("GET", `/${id}`);
    expect(JSON.stringify(read.body)).toContain('"additional_info":{"__proto__":"q","constructor":"c"}');
    const message = idOf(await ask("POST", `/${id}/messages`, { input: "q", additional_info: info }));
    expect(JSON.stringify((await ask("GET", `/message/${message}`)).body)).toContain('"__proto__":"p"');
    for (const query of [{ term: { constructor: "c" } }, { match: { "name.constructor": "c" } }]) {
      expect(await ask("POST", "/_search", { query })).toMatchObject({ body: { hits: { hits: [] } } });
    }
    const sorted = await ask("POST", "/_search", { query: { match_all: {} }, sort: ["toString"] });
    expect(JSON.stringify(sorted)).toContain("No mapping found for [toString]");
  });
});

it.each([
  [{ version: "2.9" }, 'version must be "2.10" or "2.11" or "2.12" or "3.0" (got "2.9")'],
  [{ verison: "3.0" }, 'openSearchServer has no option "verison"'],
  [{}, 'openSearchServer needs the option "version"'],
])("invalid options are refused: %j", async (options, reason) => {
  // A caller in JavaScript may pass these.
  await expect(openSearchServer(options as unknown as OpenSearchServerOptions)).rejects.toThrow(reason);
});
