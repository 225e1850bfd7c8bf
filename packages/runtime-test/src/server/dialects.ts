import type { Dialect } from "./answer.ts";
import { chatDialect } from "./chat-dialect.ts";
import { responsesDialect } from "./responses-dialect.ts";
import type { StopStrings } from "./stop-strings.ts";
import { textDialect } from "./text-completion.ts";

/** Returns the dialects of the server, by path. */
export const dialectsOf = (stopStrings: StopStrings): Readonly<Record<AnswerRoute, Dialect>> => ({
  "/chat/completions": chatDialect,
  "/responses": responsesDialect(),
  "/completions": textDialect(stopStrings),
});

/** The paths under which a model answers. */
export type AnswerRoute = (typeof answerRoutes)[number];

export const answerRoutes = ["/chat/completions", "/responses", "/completions"] as const;
