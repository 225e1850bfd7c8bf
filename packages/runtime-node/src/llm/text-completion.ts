import type { LlmHandler } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import type { Template } from "@colloquy/templates";
import type { TextRequestOptions } from "./text-request.ts";
import { connect, loadedLater, type OpenAiConnection } from "./transport/connection.ts";

export type TextCompletionOptions = TextRequestOptions &
  OpenAiConnection & {
    /** Makes the text that the model goes on with. */
    readonly template: Template;
  };

/**
 * Calls any server that speaks OpenAI's text completions (`POST /completions`), as those of local models do: the prompt is
 * the text that a template makes of the messages. Connection, streams, silence, redirects and keys are as with `openaiChat`.
 *
 * The reply is the text before the first stop pattern, without white space around it. Servers are sent at most four
 * patterns, and all are looked for here, wherever a stream is cut; a server that writes on behind one is cut off, and
 * its usage then stays unknown. Where a stream breaks off, what may have become a pattern is not part of what came.
 *
 * A call that offers tools fails as `bad_request`, since calls in a text are every model's own; tool rounds that a
 * prompt has are the template's to render. An output that the call wants is asked for in words (`prompted`). Messages
 * that the template can't render fail as `bad_request` too. Without `max_tokens` among its parameters a call has 1024.
 */
export const textCompletion = ({ template, ...given }: TextCompletionOptions): LlmHandler => {
  if (typeof template?.render !== "function")
    throw new ConfigurationError("textCompletion needs a template: give promptFormat(…) or jinjaTemplate(…)");
  const connected = connect<TextRequestOptions>("textCompletion", given, optionNames);
  const { stop } = connected.options;
  if (stop !== undefined && !Array.isArray(stop))
    throw new ConfigurationError(`textCompletion: stop is ${JSON.stringify(stop)}; it must be a list of texts`);
  return loadedLater(connected, async () => (await import("./text-handler.ts")).textHandler(template, connected));
};

const optionNames = { model: true, dialect: true, stop: true, stream: true, includeUsage: true } as const;
