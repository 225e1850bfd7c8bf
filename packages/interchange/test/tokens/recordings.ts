import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The part of a recorded conversation that the comparison with reported usage needs. */
export interface RecordedCase {
  readonly id: string;
  readonly api: string;
  readonly host?: string | null;
  readonly model: string | null;
  readonly system?: unknown;
  readonly system_role?: string | null;
  readonly seed?: readonly Wire[] | null;
  readonly tools?: readonly unknown[] | null;
  readonly params?: Readonly<Record<string, unknown>> | null;
  readonly steps: readonly RecordedStep[];
}

interface RecordedStep {
  readonly type: "user" | "llm" | "tool" | "message";
  readonly content?: unknown;
  readonly name?: string | null;
  readonly tool_call_id?: string | null;
  readonly message?: Wire;
  readonly echo?: Wire;
  readonly usage?: { readonly prompt_tokens?: number } | null;
}

/** A message in the form of chat completions. */
export type Wire = Readonly<Record<string, unknown>>;

/** The messages of a model call, and its reported prompt tokens; null if none were reported. */
export interface ReportedCall {
  readonly messages: readonly Wire[];
  readonly reported: number | null;
}

export const recordingsFolder: string =
  process.env["COLLOQUY_RECORDINGS"] ?? join(import.meta.dirname, "../../../../../shared/recordings");

/** Returns the chat completions of the folder; none if it is absent. */
export const recordedCases = (): readonly RecordedCase[] =>
  existsSync(recordingsFolder)
    ? globSync("*.jsonl", { cwd: recordingsFolder })
        .toSorted()
        .flatMap((file) => readFileSync(join(recordingsFolder, file), "utf8").split("\n"))
        .filter((line) => line.includes('"steps"'))
        .map((line): RecordedCase => JSON.parse(line))
        .filter(({ api }) => api === "chat.completions")
    : [];

/** Returns the model calls of a case, in order. */
export const callsOf = (recorded: RecordedCase): readonly ReportedCall[] => {
  const messages: Wire[] = [...(recorded.seed ?? [])];
  if (recorded.system != null) messages.unshift({ role: recorded.system_role ?? "system", content: recorded.system });
  const calls: ReportedCall[] = [];
  for (const step of recorded.steps) {
    if (step.type === "llm") calls.push({ messages: [...messages], reported: step.usage?.prompt_tokens ?? null });
    messages.push(wireOf(step));
  }
  return calls;
};

const wireOf = (step: RecordedStep): Wire => {
  switch (step.type) {
    case "user":
      return { role: "user", content: step.content, ...(step.name ? { name: step.name } : {}) };
    case "tool":
      return { role: "tool", tool_call_id: step.tool_call_id, content: step.content };
    case "llm":
      return { ...(step.echo ?? step.message), role: "assistant" };
    case "message":
      return step.message ?? {};
  }
};
