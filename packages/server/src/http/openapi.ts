import { z } from "zod";
import type { Route } from "./route.ts";

/** Creates the route that describes all others in OpenAPI 3.1. @param pages the path of errors for users */
export const openApiRoute = (routes: readonly Route[], pages: string): Route => {
  const own: Route = {
    method: "GET",
    path: "/openapi.json",
    description: "This description.",
    handle: () => Response.json(description),
  };
  const description = descriptionOf([...routes, own], pages);
  return own;
};

const descriptionOf = (routes: readonly Route[], pages: string): object => ({
  openapi: "3.1.0",
  info: { title: "Colloquy", version: "1", description: "Threads over HTTP." },
  security: [{ bearer: [] }, {}],
  paths: Object.fromEntries(
    Object.entries(Object.groupBy(routes, ({ path }) => path.replaceAll(/:(\w+)/g, "{$1}"))).map(([path, at = []]) => [
      path,
      Object.fromEntries(
        at.map((route) => [route.method.toLowerCase(), operationOf(route, route.path.startsWith(pages))]),
      ),
    ]),
  ),
  components: {
    securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    schemas: { Error: schemaOf(errorSchema) },
  },
});

const operationOf = ({ path, description = "", query, body }: Route, isOfPage: boolean): object => ({
  description,
  parameters: [
    ...Array.from(path.matchAll(/:(\w+)/g), ([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string", pattern: "^[A-Za-z0-9_-]{1,192}$" },
    })),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) => ({ name, in: "query", schema: schemaOf(schema) })),
  ],
  ...(body === undefined ? {} : { requestBody: { content: { "application/json": { schema: schemaOf(body) } } } }),
  responses: {
    "200": { description: "The answer." },
    default: isOfPage
      ? { description: "A sentence for the user.", content: { "text/plain": { schema: { type: "string" } } } }
      : {
          description: "A refusal, in words.",
          content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
        },
  },
});

/** Converts a schema to JSON Schema inside another document. Its own definitions stay inside it. */
const schemaOf = (schema: z.core.$ZodType): object => {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return json;
};

const errorSchema = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});
