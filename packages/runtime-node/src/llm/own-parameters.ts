import type { LlmOutcome } from "@colloquy/host";
import { isObject } from "./json/loose-json.ts";
import type { exchanges } from "./transport/exchange.ts";
import type { RequestBody } from "./transport/written-messages.ts";
import { refusalIn } from "./wire/handler-on-wire.ts";

type Send = ReturnType<typeof exchanges>;

/**
 * Sends a body. If the server refuses a parameter that the handler added by itself, sends the body again with that parameter
 * simplified or left out. Remembers this for the model once the server has answered.
 */
export const withOwnParameters = (send: Send): Send => {
  const known = new Map<unknown, RequestBody>();
  return async (given, call, context) => {
    const { model } = given;
    const own = Object.keys(refusals).filter((name) => name in given && call.model[name] === undefined);
    let less: RequestBody = Object.fromEntries(
      Object.entries(known.get(model) ?? {}).filter(([name]) => own.includes(name)),
    );
    for (;;) {
      const body = { ...given, ...less };
      const outcome = await send(body, call, context);
      const refused = own.find((name) => body[name] !== undefined && refuses(outcome, name));
      if (refused === undefined) {
        // Only now is it known that nothing else was wrong.
        if (outcome.type === "completed") known.set(model, { ...known.get(model), ...less });
        return outcome;
      }
      less = { ...less, [refused]: simplified(refused, body[refused]) };
    }
  };
};

/** A server that refuses the choice of one tool may take `required`. All else that is refused is left out. */
const simplified = (name: string, value: RequestBody[string]): string | undefined =>
  name === "tool_choice" && isObject(value) ? "required" : undefined;

const refuses = (outcome: LlmOutcome, name: string): boolean =>
  refusals[name]?.test(refusalIn(outcome)) === true &&
  // Reasoning of another account that cannot be decrypted is another refusal.
  !(outcome.type === "failed" && outcome.failure.code === "invalid_encrypted_content");

/** The refusals of servers, by parameter. A message that a request must "include" something is not one of them. */
const refusals: { readonly [name: string]: RegExp } = {
  include: /encrypted[ _]content|['"`]include\b|\binclude['"`]|\b(parameter|field|argument)s?:? include\b/i,
  // Mistral, Databricks, Azure with data sources: "body.stream_options.include_usage: Extra inputs are not permitted"
  stream_options: /stream_options|include_usage/i,
  // LM Studio: "Invalid tool_choice type: 'object'"; DeepSeek: "Thinking mode does not support this tool_choice"
  tool_choice: /tool[_ ]?choice/i,
};
