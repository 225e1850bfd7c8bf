import type { Host, HostedThread } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import { z } from "zod";
import { type Call, HttpError, type Route } from "../http/route.ts";
import { serve } from "../http/server.ts";
import { type Authenticate, isThreadId } from "../http/access.ts";
import { serverContextOf, type HttpOptions } from "../http/server-options.ts";
import { chat, resume, stop, type UiOptions } from "./chat.ts";
import { chatRequest } from "./chat-request.ts";
import { uiMessagesOf } from "./ui-messages.ts";
import { uiResponse } from "./ui-stream.ts";

/**
 * The routes of the AI SDK's `useChat`, where a chat is the thread of that id: `new DefaultChatTransport({ api: "…/ui" })` finds
 * them. What comes as `POST /ui/:thread` is of that thread, whatever the chat's id.
 *
 * @param base the path that they stand under, without a slash at its end.
 */
export const uiRoutes = (host: Host, options: UiOptions = {}, base = "/ui"): readonly Route[] => {
  const post = async (call: Call): Promise<Response> => {
    const request = await call.body(chatRequest);
    const thread = await threadOf(host, call, call.parameters["thread"] ?? request.id ?? "");
    const context = call.openStream();
    return uiResponse(await chat(host, thread, request, options, call.principal.id), {}, context);
  };
  const posted = { method: "POST", body: chatRequest, handle: post } as const;
  const path = `${base}/:thread`;
  return [
    { ...posted, path: base, description: "Asks, answers or regenerates; a UI message stream of the AI SDK" },
    { ...posted, path, description: "The same on this thread" },
    {
      method: "GET",
      path: `${path}/stream`,
      description: "The stream of the turn that is open, from its beginning; 204 where none is",
      handle: async (call) => {
        const thread = await threadOf(host, call);
        const context = call.openStream();
        const chunks = await resume(thread, options);
        return chunks === null ? new Response(null, { status: 204 }) : uiResponse(chunks, {}, context);
      },
    },
    {
      method: "POST",
      path: `${path}/stop`,
      description: "Cancels the turn that is open",
      handle: async (call) => Response.json({ stopped: await stop(await threadOf(host, call)) }),
    },
    {
      method: "GET",
      path: `${path}/messages`,
      description: "The UI messages of the thread, for a page that opens: ?last= so many turns",
      handle: async (call) => {
        const thread = await threadOf(host, call);
        const last = call.url.searchParams.get("last");
        const turns = z.coerce.number().int().min(1).safeParse(last);
        if (last !== null && !turns.success)
          throw new HttpError(400, "last: it must be a number of turns", { param: "last" });
        const shown = await thread.look((state) => uiMessagesOf(state, last === null ? {} : { last: turns.data }));
        return Response.json(shown ?? []);
      },
    },
  ];
};

/** How `uiChat` serves: as `threadServer`, under a path of the framework. */
export interface UiChatOptions extends HttpOptions, UiOptions {
  /** Where the framework mounts it, as `/api/chat`. */
  readonly path: string;
  /** Who asks, as the cookie or the token of the request says. */
  readonly authenticate: Authenticate;
}

/** What a file of routes exports; `OPTIONS` where pages of other origins call it. */
export type UiChat = Readonly<Record<"GET" | "POST" | "OPTIONS", (request: Request) => Promise<Response>>>;

/**
 * The chat backend of a page, as a file of routes exports it (`app/api/chat/[[...path]]/route.ts` of Next). Nothing happens
 * before the first request, which calls `host.start()`. The names by which
 * the application is called are the framework's affair (`hosts`: any).
 *
 * @throws ConfigurationError for an option that is invalid.
 */
export const uiChat = (host: Host, { path, tools, errorText, ...options }: UiChatOptions): UiChat => {
  if (!Object.hasOwn(options, "authenticate"))
    throw new ConfigurationError(
      "uiChat needs the option authenticate: a function from a request to its principal, or { token }",
    );
  const ui = { ...(tools === undefined ? {} : { tools }), ...(errorText === undefined ? {} : { errorText }) };
  const server = serve(host, uiRoutes(host, ui, path), serverContextOf({ hosts: ["*"], ...options }));
  const answer = (request: Request): Promise<Response> => server.fetch(request);
  return { GET: answer, POST: answer, OPTIONS: answer };
};

const threadOf = async (
  host: Host,
  call: Call,
  id: string = call.parameters["thread"] ?? "",
): Promise<HostedThread> => {
  if (!isThreadId(id))
    throw new HttpError(400, 'id must be 1 to 128 letters, digits, _ or -, and not "new"', { param: "id" });
  if (!(await call.mayUse(id))) throw new HttpError(404, `there is no thread ${JSON.stringify(id)}`);
  return host.thread(id);
};
