import { expect, test } from "vitest";
import { at, get, serving } from "./serving.ts";

const hello = get("/hello", () => new Response("hello"));

test.each<readonly [readonly string[], string, number]>([
  [["api.example:8443"], "api.example:8443", 200],
  [["api.example:8443"], "API.example:8443", 200],
  [["api.example:8443"], "api.example", 403],
  [["api.example:8443"], "api.example:80", 403],
  [["API.example"], "api.example:80", 200],
  [["api.example"], "other.example", 403],
  [["*"], "other.example", 200],
])("a server with the names %j answers a request to %s with %i", async (hosts, host, status) => {
  expect((await serving({ hosts }, hello).fetch(at("/hello", { headers: { host } }))).status).toBe(status);
});

test("a request without a name of its host goes to that of its address", async () => {
  const server = serving({}, hello);
  expect((await server.fetch(new Request("http://localhost/hello"))).status).toBe(200);
  expect((await server.fetch(new Request("http://other.example/hello"))).status).toBe(403);
});

test("a page of an allowed origin may send the headers that it asks for, and read all of an answer", async () => {
  const server = serving({ origins: ["https://good.example"] }, hello);
  const asked = async (method: string, headers: Record<string, string>) => {
    const answer = await server.fetch(at("/hello", { method, headers }));
    return ["allow-origin", "allow-headers", "expose-headers"].map((name) =>
      answer.headers.get(`access-control-${name}`),
    );
  };
  const origin = "https://good.example";
  const wanted = { "access-control-request-headers": "x-own, authorization" };
  expect(await asked("OPTIONS", { origin, ...wanted })).toEqual([origin, "x-own, authorization", "*"]);
  expect(await asked("OPTIONS", { origin })).toEqual([origin, "", "*"]);
  expect(await asked("GET", { origin })).toEqual([origin, null, "*"]);
  expect(await asked("GET", {})).toEqual([null, null, null]);
});

test("a route may answer with what it fetched, whose headers can't be changed", async () => {
  const server = serving(
    {},
    get("/fetched", () => fetch("data:text/css,hello")),
  );
  const answer = await server.fetch(at("/fetched", { headers: { "x-request-id": "r1" } }));
  expect([answer.status, await answer.text()]).toEqual([200, "hello"]);
  expect(["content-type", "x-request-id"].map((name) => answer.headers.get(name))).toEqual(["text/css", "r1"]);
});
