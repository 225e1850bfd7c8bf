import { type LlmHandler, type LlmOutcome, outputRequest } from "@colloquy/host";
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
  readonly client: Connected<object>["client"];
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
export const httpHandler = ({ client: connect, request, again, accepted, ...endpoint }: HttpHandler): LlmHandler => {
  const client = withBoundedErrors(connect(OpenAI));
  return async (call, context) => {
    const asked = outputRequest(call, context);
    const body = request(asked.call, asked.context.tools);
    if (Either.isLeft(body))
      return { type: "failed", failure: { kind: "bad_request", message: body.left, retryable: false } };
    const outcome = await exchange(client, endpoint, call, body.right, asked.context);
    const other = again?.(body.right, outcome, call) ?? null;
    if (other === null) return asked.read(outcome);
    const second = await exchange(client, endpoint, call, other, asked.context);
    if (second.type === "completed") accepted?.(other);
    return asked.read(second);
  };
};
