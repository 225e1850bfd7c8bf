import type { Host, HostedThread } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { z } from "zod";
import { type Call, type Route } from "../http/route.ts";
import { HttpError, invalid } from "../http/http-error.ts";
import { type PageErrors, serve } from "../http/server.ts";
import type { StreamContext } from "../http/event-stream.ts";
import { type Authenticate, isThreadId } from "../http/access.ts";
import { serverContextOf, type HttpOptions, type ServerContext } from "../http/server-options.ts";
import { chat, type ChatCall, resume, stop, type UiOptions } from "./chat.ts";
import { chatRequest } from "./chat-request.ts";
import { type ErrorText, messageForUser, textForUser } from "./message-for-user.ts";
import { uiMessagesOf } from "./ui-messages.ts";
import { isExpected, uiResponse } from "./ui-stream.ts";
import { WaitingPages } from "./waiting-pages.ts";

/**
 * Returns the routes for the AI SDK's `useChat`. A chat is the thread of that id, and `new DefaultChatTransport({ api:
 * "…/ui" })` finds the routes. `POST /ui/:thread` uses the thread in its path, whatever the chat's id.
 *
 * @param base the path of the routes, without a slash at its end.
 */
export const uiRoutes = (
  host: Host,
  context: Pick<ServerContext, "onError">,
  options: UiOptions = {},
  base = "/ui",
): readonly Route[] => {
  const { tools, onDisconnect = "continue" } = options;
  checkOptions("threadServer: ui", options, uiOptionKinds);
  const waiting = new WaitingPages();
  /** Reserves a stream for a call, and makes the options of the chat in it. */
  const streaming = (call: Call): { readonly stream: StreamContext; readonly chatCall: ChatCall } => {
    const gone = new AbortController();
    const stream = call.openStream(onDisconnect === "cancel" ? () => gone.abort() : undefined);
    const errorText: ErrorText = (error) => {
      // Other errors break the stream, which reports them itself.
      if (isExpected(error)) context.onError(error, call.requestId);
      return textForUser(error, options.errorText);
    };
    return { stream, chatCall: { gone: gone.signal, waiting, errorText, ...(tools === undefined ? {} : { tools }) } };
  };
  const post = async (call: Call): Promise<Response> => {
    const request = await call.body(chatRequest);
    const thread = await threadOf(host, call, call.parameters["thread"] ?? request.id ?? "");
    const { stream, chatCall } = streaming(call);
    return uiResponse(await chat(host, thread, request, chatCall, call.principal.id), {}, stream);
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
        const { stream, chatCall } = streaming(call);
        const chunks = await resume(thread, chatCall);
        return chunks === null ? new Response(null, { status: 204 }) : uiResponse(chunks, {}, stream);
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
        if (last !== null && !turns.success) throw invalid("last: it must be a number of turns", "last");
        const shown = await thread.look((state) => uiMessagesOf(state, last === null ? {} : { last: turns.data }));
        return Response.json(shown ?? []);
      },
    },
  ];
};

const uiOptionKinds: OptionKinds<UiOptions> = {
  tools: kinds.anything,
  errorText: kinds.anything,
  onDisconnect: kinds.oneOf("continue", "cancel"),
};

/** Answers errors under a path with a sentence for users, which a client of the AI SDK shows as it is. */
export const pageErrors = ({ errorText }: UiOptions = {}, base = "/ui"): PageErrors => ({
  base,
  answer: (thrown, { status, headers }) =>
    new Response(textForUser(thrown, errorText), {
      status,
      headers: { ...headers, "content-type": "text/plain; charset=utf-8", "x-error-kind": messageForUser(thrown).kind },
    }),
});

/** Options of `uiChat`: those of `threadServer`, and the framework's path. */
export interface UiChatOptions extends HttpOptions, UiOptions {
  /** The path where the framework mounts it, such as `/api/chat`. */
  readonly path: string;
  /** How a caller is identified by the cookie or token of a request. */
  readonly authenticate: Authenticate;
}

/** The exports of a route file; `OPTIONS` if pages of other origins call it. */
export type UiChat = Readonly<Record<"GET" | "POST" | "OPTIONS", (request: Request) => Promise<Response>>>;

/**
 * Creates the chat backend of a page as the exports of a route file (`app/api/chat/[[...path]]/route.ts` of Next).
 * Nothing runs before the first request, which calls `host.start()`. Host names are the framework's concern (`hosts`:
 * any).
 *
 * @throws ConfigurationError for an invalid option.
 */
export const uiChat = (host: Host, { path, tools, errorText, onDisconnect, ...options }: UiChatOptions): UiChat => {
  if (!Object.hasOwn(options, "authenticate"))
    throw new ConfigurationError(
      "uiChat needs the option authenticate: a function from a request to its principal, or { token }",
    );
  const ui: UiOptions = {
    ...(tools === undefined ? {} : { tools }),
    ...(errorText === undefined ? {} : { errorText }),
    ...(onDisconnect === undefined ? {} : { onDisconnect }),
  };
  const context = serverContextOf({ hosts: ["*"], ...options });
  const server = serve(host, uiRoutes(host, context, ui, path), context, pageErrors(ui, path));
  const answer = (request: Request): Promise<Response> => server.fetch(request);
  return { GET: answer, POST: answer, OPTIONS: answer };
};

const threadOf = async (
  host: Host,
  call: Call,
  id: string = call.parameters["thread"] ?? "",
): Promise<HostedThread> => {
  if (!isThreadId(id)) throw invalid('id must be 1 to 128 letters, digits, _ or -, and not "new"', "id");
  if (!(await call.mayUse(id))) throw new HttpError(404, `there is no thread ${JSON.stringify(id)}`);
  return host.thread(id);
};
