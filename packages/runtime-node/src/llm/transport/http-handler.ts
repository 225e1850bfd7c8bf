import { type LlmContext, type LlmHandler, type LlmOutcome, outputRequest } from "@colloquy/host";
import type { CallLlm, ToolDeclaration } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import OpenAI from "openai";
import type { Endpoint } from "./answer.ts";
import type { Connected } from "./connection.ts";
import { withBoundedErrors } from "./bounded-errors.ts";
import { exchange } from "./exchange.ts";
import type { RequestBody } from "./request-body.ts";

/** How a handler asks a server. */
export interface HttpHandler extends Endpoint {
  readonly connected: Pick<Connected<object>, "client" | "waits">;
  /**
   * The body of the request of a call, with the declarations of the tools that it offers; or in words why there can be
   * none. A body with `stream: true` asks for the reply piece by piece.
   */
  readonly request: (call: CallLlm, declared: readonly ToolDeclaration[]) => Either.Either<string, RequestBody>;
  /** The body to ask with once more, where a server refused the first for what no call needs; null otherwise. */
  readonly again?: (body: RequestBody, outcome: LlmOutcome, call: CallLlm) => RequestBody | null;
  /** Called with that body where the server answered it. */
  readonly accepted?: (body: RequestBody) => void;
}

/** Performs model calls by HTTP requests. Outputs that are wanted by a tool or in words are asked for here. */
export const httpHandler = ({ connected, request, again, accepted, ...endpoint }: HttpHandler): LlmHandler => {
  const client = withBoundedErrors(connected.client(OpenAI));
  const send = (call: CallLlm, body: RequestBody, context: LlmContext): Promise<LlmOutcome> =>
    exchange(client, { ...endpoint, waits: connected.waits }, call, body, context);
  return async (call, context) => {
    const asked = outputRequest(call, context);
    const body = request(asked.call, asked.context.tools);
    if (Either.isLeft(body))
      return { type: "failed", failure: { kind: "bad_request", message: body.left, retryable: false } };
    const outcome = await send(call, body.right, asked.context);
    const other = again?.(body.right, outcome, call) ?? null;
    if (other === null) return asked.read(outcome);
    const second = await send(call, other, asked.context);
    if (second.type === "completed") accepted?.(other);
    return asked.read(second);
  };
};
