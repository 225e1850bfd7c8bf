import { type Route, type Call, HttpError } from "@colloquy/server";
import { threadReader } from "./reading/thread-reader.ts";
import { lookingRoutes } from "./routes/looking.ts";
import type { StudioOptions, Assets } from "./routes/options.ts";
import { existsSync, readFileSync } from "node:fs";
import type { Host } from "@colloquy/host";
import {
  type ContentPart,
  type JsonObject,
  type Message,
  type MessageDraft,
  toArray,
  turnNumbered,
} from "@colloquy/machine";
import { z } from "zod";
import type { Made } from "./wire/wire.ts";
import { answer, type Reader, threadIn } from "./routes/query.ts";

/**
 * Returns the routes of a developer's page at `/studio`, for a `threadServer`. It shows threads as they change, their
 * journals, trees and states, and the prompt of each call with the reasons for its content. It reads the store, and
 * takes a lease only to answer an approval or to try a turn again. A user of the server sees only the threads that
 * `mayUse` allows.
 */
export const studioRoutes = async (options: StudioOptions): Promise<readonly Route[]> => {
  const read = threadReader(options.store);
  return [...pageRoutes(await pageAssets()), ...lookingRoutes(options, read), ...actingRoutes(options, read)];
};

/** Returns the script and style of the page: the packaged ones, or in the workspace newly built ones. */
const pageAssets = async (): Promise<Assets> => {
  const folder = new URL("page/", import.meta.url);
  if (existsSync(new URL("page.js", folder)))
    return new Map(names.map((name) => [name, readFileSync(new URL(name, folder), "utf8")]));
  // Not imported by name, because bundles of this package need neither it nor esbuild.
  const builder = new URL("../../../../scripts/build-page.ts", import.meta.url).href;
  // The module is in this repository.
  const { buildPage } = (await import(builder)) as { readonly buildPage: (folder: URL) => Promise<Assets> };
  return buildPage(folder);
};

const names = ["page.js", "page.css"];

const pageRoutes = (assets: Assets): readonly Route[] => [
  { method: "GET", path: "/", handle: () => new Response(null, { status: 303, headers: { location: "/studio" } }) },
  file("/studio", "text/html; charset=utf-8", page),
  file("/studio/icon.svg", "image/svg+xml", icon),
  ...[...assets].map(([name, text]) => file(`/studio/${name}`, typeOf(name), text)),
];

const file = (path: string, type: string, text: string): Route => ({
  method: "GET",
  path,
  handle: () => new Response(text, { headers: { ...headers, "content-type": type } }),
});

/** Nothing is loaded from elsewhere, no inline script runs, and no text is parsed as HTML. */
const headers = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  // Not cached, so that page and scripts have the same version.
  "cache-control": "no-cache",
};

const typeOf = (name: string): string => `${name.endsWith(".css") ? "text/css" : "text/javascript"}; charset=utf-8`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Colloquy Studio</title>
<link rel="icon" href="/studio/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/studio/page.css">
<script type="module" src="/studio/page.js"></script>
</head>
<body></body>
</html>
`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 3h9a3 3 0 0 1 0 6H6l-4 4z" fill="#4f6bed"/><circle cx="12.5" cy="11.5" r="2.5" fill="#c98a2b"/></svg>`;

/** Returns the routes that change something. Each names its thread in the query, as the reading routes do. */
const actingRoutes = ({ configurations }: StudioOptions, read: Reader): readonly Route[] => {
  const hostUnder = (policy: string | undefined): Host => {
    const named = policy === undefined ? configurations[0] : configurations.find(({ name }) => name === policy);
    if (named === undefined) throw new HttpError(400, "there is no such policy", { param: "policy" });
    return named.host;
  };
  const post = <Body>(
    path: string,
    description: string,
    schema: z.ZodType<Body>,
    act: (call: Call, body: Body) => Promise<object>,
  ): Route => ({
    method: "POST",
    path: `/studio/api/${path}`,
    description,
    body: schema,
    handle: async (call) => answer(await act(call, await call.body(schema))),
  });
  return [
    post(
      "approval",
      "Answers a tool call that waits for approval, as it was shown.",
      approvalBody,
      async (call, body) => {
        const { state } = await threadIn(call, read);
        const thread = hostUnder(undefined).thread(state.context.threadId);
        const { id, digest, approve, reason } = body;
        if (approve) await thread.approve(id, { digest, by: "studio" });
        else await thread.deny(id, { digest, by: "studio", ...(reason === undefined ? {} : { reason }) });
        return {};
      },
    ),
    post("fork", "Copies a thread up to a turn.", forkBody, async (call, { turn }): Promise<Made> => {
      const { state } = await threadIn(call, read);
      const { thread } = await hostUnder(undefined)
        .thread(state.context.threadId)
        .fork({ turn, threadId: await forkId(call) });
      return { threadId: thread.id };
    }),
    post(
      "again",
      "Copies a thread up to a turn and asks what that turn was asked, or something else.",
      againBody,
      async (call, body): Promise<Made> => {
        const { state } = await threadIn(call, read);
        const turn = turnNumbered(state, body.turn);
        if (turn === undefined)
          throw new HttpError(404, `turn ${body.turn} is not there, or still open`, { param: "turn" });
        const input = body.input ?? askedIn(toArray(turn.messages));
        const host = hostUnder(body.policy);
        const { thread } = await host
          .thread(state.context.threadId)
          .fork({ turn: turn.parent, threadId: await forkId(call) });
        const model: JsonObject = body.model === undefined ? {} : { model: body.model };
        // The journal contains the outcome, and the page reads it there.
        thread.ask(input, { model }).catch(() => null);
        return { threadId: thread.id };
      },
    ),
  ];
};

/** Returns an id for a fork, with the prefix of the user who made it. */
const forkId = (call: Call): Promise<string> => call.newThreadId(`fork_${crypto.randomUUID().replaceAll("-", "")}`);

const approvalBody = z.strictObject({
  id: z.string(),
  digest: z.string(),
  approve: z.boolean(),
  reason: z.string().optional(),
});

const forkBody = z.strictObject({ turn: z.int().nonnegative() });

const againBody = z.strictObject({
  turn: z.int().positive(),
  input: z.string().optional(),
  policy: z.string().optional(),
  model: z.string().optional(),
});

/** Returns the user messages before a model's first answer. */
const askedIn = (messages: readonly Message[]): readonly MessageDraft[] => {
  const answered = messages.findIndex(({ role }) => role === "assistant");
  return messages.slice(0, answered === -1 ? undefined : answered).map(({ role, parts, name, metadata }) => ({
    // No tool result comes before the first model call.
    role: role === "tool" ? "user" : role,
    content: parts.filter((part): part is ContentPart => contentTypes.has(part.type)),
    ...(name === undefined ? {} : { name }),
    ...(metadata === undefined ? {} : { metadata }),
  }));
};

const contentTypes: ReadonlySet<string> = new Set<ContentPart["type"]>(["text", "data", "image", "opaque"]);
