import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Route } from "../src/index.ts";
import { at, serving } from "./serving.ts";

const list: Route = {
  method: "GET",
  path: "/things/:id/parts",
  description: "The parts of a thing.",
  query: z.object({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    order: z.enum(["asc", "desc"]).optional(),
  }),
  handle: () => new Response(),
};
const make: Route = {
  method: "POST",
  path: "/things/:id/parts",
  body: z.strictObject({ name: z.string(), at: z.date().optional() }),
  handle: () => new Response(),
};

test("the server describes itself, all of its routes, validly", async () => {
  const description = (await (await serving({}, list, make).fetch(at("/openapi.json"))).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const validated = await new Validator().validate(structuredClone(description));
  expect(validated).toMatchObject({ valid: true });
  expect(Object.keys(description.paths)).toContain("/openapi.json");
  expect(description.paths["/things/{id}/parts"]).toMatchObject({
    get: {
      description: "The parts of a thing.",
      parameters: [
        { name: "id", in: "path", required: true },
        { name: "limit", in: "query", schema: { type: "integer", default: 20 } },
        { name: "order", in: "query", schema: { enum: ["asc", "desc"] } },
      ],
    },
    post: { requestBody: { content: { "application/json": { schema: { required: ["name"] } } } } },
  });
});

test("nothing in it refers to what is elsewhere", async () => {
  const text = await (await serving({}, list, make).fetch(at("/openapi.json"))).text();
  const referred = [...text.matchAll(/"\$ref":"([^"]*)"/g)].map(([, place]) => place);
  expect(new Set(referred)).toEqual(new Set(["#/components/schemas/Error"]));
});

test("the server describes an error of a page as a sentence, and any other as an error", async () => {
  const description = (await (await serving({}, list, make).fetch(at("/openapi.json"))).json()) as {
    paths: Record<string, Record<string, { responses: { default: { content: object } }; requestBody?: object }>>;
  };
  const kinds = Object.entries(description.paths).map(([path, methods]) => [
    path.split("/")[1],
    ...new Set(Object.values(methods).flatMap(({ responses }) => Object.keys(responses.default.content))),
  ]);
  expect(new Set(kinds.map((kind) => kind.join(" ")))).toEqual(
    new Set(["ui text/plain", "v1 application/json", "things application/json", "openapi.json application/json"]),
  );
  const { get, post } = description.paths["/things/{id}/parts"] ?? {};
  expect([get?.requestBody, post?.requestBody]).toEqual([undefined, expect.any(Object)]);
});
