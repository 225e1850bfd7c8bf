import { openaiChat, textCompletion } from "@colloquy/runtime-node";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { type Metric, predict, type ProgramContext, scoreOf, session } from "@colloquy/sessions";
import { promptFormat } from "@colloquy/interchange/templates";
import { expect, onTestFinished, vi } from "vitest";
import { z } from "zod";
import {
  type Answer,
  answering,
  asked,
  closing,
  inputs,
  outputs,
  type Question,
  questionsIn,
  read,
  type Rows,
  saying,
} from "./parts.ts";
import { calls } from "./dspy-session-calls.ts";

/** The rows of dspy-session. */
export const rows = (): readonly Rows[] => [making, options, ...calls];

const making: Rows = {
  "pip install dspy-session": async () => {
    const command = "npm install @colloquy/sessions zod";
    expect(read("packages/sessions/README.md")).toContain(command);
    expect(Object.keys(await import("@colloquy/sessions"))).toContain("session");
  },
  'dspy.configure(lm=dspy.LM("openai/gpt-4o-mini"))': async () => {
    await using server = await loopbackServer({ model: saying({ answer: "Paris" }) });
    vi.stubEnv("OPENAI_BASE_URL", server.url);
    vi.stubEnv("OPENAI_API_KEY", "none");
    onTestFinished(() => void vi.unstubAllEnvs());
    const program = predict({ inputs, outputs });
    const qa = closing(session(program, { name: "qa", llm: openaiChat({ model: "gpt-4o-mini" }) }));
    expect(await qa.call({ question: "The capital of France?" })).toEqual({ answer: "Paris" });
    expect(server.requests[0]?.body).toMatchObject({ model: "gpt-4o-mini" });
  },
  "class QA(dspy.Signature)": async () => {
    const signature = { inputs: z.object({ question: z.string() }), outputs: z.object({ answer: z.string() }) };
    const qa = closing(session(() => ({ answer: "A" }), { name: "qa", signature }));
    expect(await qa.call({ question: "Q" })).toEqual({ answer: "A" });
    // A caller in JavaScript could do so.
    await expect(qa.call(Object({ question: 7 }))).rejects.toThrow(/question/);
  },
  "dspy.InputField()": async () => {
    const llm = saying({ answer: "A" });
    const program = predict({ inputs: z.object({ question: z.string() }), outputs });
    await closing(session(program, { name: "qa", llm })).call({ question: "Q" });
    expect(llm.calls[0]?.messages.at(-1)?.parts).toEqual([{ type: "data", field: "question", value: "Q" }]);
  },
  "dspy.OutputField()": async () => {
    const llm = saying({ wrong: 1 }, { answer: "A" });
    const program = predict({ inputs, outputs: z.object({ answer: z.string() }) });
    // An invalid answer is requested again.
    expect(await closing(session(program, { name: "qa", llm })).call({ question: "Q" })).toEqual({ answer: "A" });
    expect(llm.calls).toHaveLength(2);
  },
  "dspy.Predict(QA)": async () => {
    const llm = saying({ answer: "Paris" });
    const qa = closing(session(predict({ inputs, outputs }), { name: "qa", llm }));
    expect(await qa.call({ question: "The capital of France?" })).toEqual({ answer: "Paris" });
  },
  "dspy.ChainOfThought(QA)": async () => {
    const llm = saying({ reasoning: "France is a country.", answer: "Paris" });
    const thinking = predict({ inputs, outputs: z.object({ reasoning: z.string(), answer: z.string() }) });
    const qa = closing(session(thinking, { name: "qa", llm }));
    expect((await qa.call({ question: "The capital of France?" })).answer).toBe("Paris");
    // The model writes its reasoning before its answer.
    expect(Object.keys(Object(llm.calls[0]?.output?.schema["properties"]))).toEqual(["reasoning", "answer"]);
  },
  "class Agent(dspy.Module)": async () => {
    class Agent {
      gen = predict({ inputs, outputs });
      forward({ question }: Question, context: ProgramContext) {
        return this.gen({ question }, context);
      }
    }
    const llm = saying({ answer: "A1" }, { answer: "A2" });
    const agent = closing(session(new Agent(), { name: "agent", llm }));
    await asked(agent, 2);
    // No history is passed: the inner program sees the memory by itself.
    expect(llm.calls[1]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  },
  "sessionify(module)": async () => {
    const program = ({ question }: Question, { memory }: ProgramContext): Answer => ({
      answer: `${question} after ${questionsIn(memory).join(" and ")}`,
    });
    const qa = closing(session(program, { name: "qa" }));
    await asked(qa, 2);
    expect(await qa.call({ question: "Q3" })).toEqual({ answer: "Q3 after Q1 and Q2" });
  },
  "Session(module, …)": async () => {
    const options = { name: "qa", maxTurns: 1 };
    const program = (_: Question, { memory }: ProgramContext): Answer => ({ answer: questionsIn(memory).join() });
    const qa = closing(session(program, options));
    await asked(qa, 2);
    expect(await qa.call({ question: "Q3" })).toEqual({ answer: "Q2" });
  },
  ChatAdapter: async () => {
    const llm = saying({ answer: "A" });
    const qa = closing(session(predict({ inputs, outputs, mode: "prompted" }), { name: "qa", llm }));
    expect(await qa.call({ question: "Q" })).toEqual({ answer: "A" });
    expect(llm.calls[0]?.output?.mode).toBe("prompted");
  },
  JSONAdapter: async () => {
    const llm = saying({ answer: "A" });
    const qa = closing(session(predict({ inputs, outputs, mode: "native" }), { name: "qa", llm }));
    expect(await qa.call({ question: "Q" })).toEqual({ answer: "A" });
    expect(llm.calls[0]?.output?.mode).toBe("native");
  },
  XMLAdapter: async () => {
    const llm = saying({ answer: "<b>A</b>" });
    const qa = closing(session(predict({ inputs, outputs, mode: "tool" }), { name: "qa", llm }));
    expect(await qa.call({ question: "Q" })).toEqual({ answer: "<b>A</b>" });
    expect(llm.calls[0]?.output?.mode).toBe("tool");
  },
  TemplateAdapter: async () => {
    const template = promptFormat({
      user: { role: "User", role_sep: ":", pre: "", suf: "\n" },
      agent: { role: "Agent", role_sep: ":", pre: "", suf: "\n" },
      system_prompt: { pre: "", suf: "\n" },
      prompt: { pre: "", suf: "" },
    });
    await using server = await loopbackServer({ model: saying({ answer: "A" }) });
    const llm = textCompletion({ template, baseURL: server.url, model: "local" });
    const qa = closing(session(predict({ inputs, outputs, mode: "prompted" }), { name: "qa", llm }));
    expect(await qa.call({ question: "Q" })).toEqual({ answer: "A" });
    expect(Object(server.requests[0]?.body).prompt).toMatch(/User : .*Q.*\n[^]*Agent :/);
  },
  "dspy.History(messages=[…])": async () => {
    const { qa, seen } = answering();
    const exchanges = [{ inputs: { question: "Hi" }, outputs: { answer: "Hello!" } }];
    await qa.call({ question: "Q1" }, { history: { exchanges, as: "useIfProvided" } });
    expect(seen[0]?.exchanges).toMatchObject(exchanges);
  },
  'predictor(question="…", history=history)': async () => {
    const { qa, seen } = answering();
    const exchanges = [{ inputs: { question: "Hi" }, outputs: { answer: "Hello!" } }];
    await qa.call({ question: "Q1" }, { history: { exchanges, as: "override" } });
    expect([questionsIn(seen[0]), await qa.count()]).toEqual([["Hi"], 0]);
  },
};

const exchanges = [{ inputs: { question: "Hi" }, outputs: { answer: "Hello!" } }];

const options: Rows = {
  'history_field="history"': async () => {
    const program = ({ history }: { readonly history: string }, { memory }: ProgramContext) => ({
      answer: `${history} ${memory.exchanges.length}`,
    });
    const qa = closing(session(program, { name: "qa" }));
    await qa.call({ history: "Rome" });
    // An input may have any name, as the memory is separate from the inputs.
    expect(await qa.call({ history: "Rome" })).toEqual({ answer: "Rome 1" });
  },
  "strict_history_annotation=False": async () => {
    const program = (_: Question, { memory }: ProgramContext): Answer => ({ answer: memory.text });
    const qa = closing(session(program, { name: "qa" }));
    expect(await qa.call({ question: "Q" })).toEqual({ answer: "No prior conversation context." });
  },
  "max_turns=None": async () => {
    const { qa, seen } = answering({ maxTurns: 2 });
    await asked(qa, 4);
    expect(questionsIn(seen[3])).toEqual(["Q2", "Q3"]);
    const { qa: none, seen: nothing } = answering({ maxTurns: 0 });
    await asked(none, 2);
    expect(questionsIn(nothing[1])).toEqual([]);
  },
  "exclude_fields=None": async () => {
    const { qa, seen } = answering({ excludeFields: ["context"] });
    await qa.call({ question: "Q1", context: "long" });
    await qa.call({ question: "Q2" });
    expect(seen[1]?.exchanges[0]?.inputs).toEqual({ question: "Q1" });
    expect((await qa.turns())[0]?.inputs).toEqual({ question: "Q1", context: "long" });
  },
  "history_input_fields=None": async () => {
    const { qa, seen } = answering({ onlyInputFields: ["question"] });
    await qa.call({ question: "Q1", context: "long" });
    await qa.call({ question: "Q2" });
    expect(seen[1]?.exchanges[0]?.inputs).toEqual({ question: "Q1" });
  },
  input_field_override: async () => {
    const { qa, seen } = answering({ onlyInputFields: new Set(["question"]) });
    await qa.call({ question: "Q1", context: "long" });
    await qa.call({ question: "Q2" });
    expect(seen[1]?.exchanges[0]?.inputs).toEqual({ question: "Q1" });
  },
  "initial_history=None": async () => {
    const { qa, seen } = answering({ seed: [{ inputs: { question: "Hi" }, outputs: { answer: "Hello!" } }] });
    await asked(qa, 1);
    expect(questionsIn(seen[0])).toEqual(["Hi"]);
  },
  'history_policy="override"': async () => {
    const { qa, seen } = answering();
    await asked(qa, 1);
    await qa.call({ question: "Q2" }, { history: { exchanges, as: "override" } });
    expect([questionsIn(seen[1]), await qa.count()]).toEqual([["Hi"], 1]);
  },
  'history_policy="use_if_provided"': async () => {
    const { qa, seen } = answering();
    await asked(qa, 1);
    await qa.call({ question: "Q2" }, { history: { exchanges, as: "useIfProvided" } });
    expect([questionsIn(seen[1]), await qa.count()]).toEqual([["Hi"], 2]);
  },
  'history_policy="replace_session"': async () => {
    const { qa, seen } = answering();
    await asked(qa, 2);
    await qa.call({ question: "Q3" }, { history: { exchanges, as: "replaceSession" } });
    await qa.call({ question: "Q4" });
    expect([questionsIn(seen[3]), await qa.count()]).toEqual([["Hi", "Q3"], 2]);
  },
  'on_metric_error="zero"': async () => {
    const errors: string[] = [];
    const { qa } = answering({ host: { onObserverError: (_, where) => void errors.push(where) } });
    await asked(qa, 1);
    expect(await qa.score(failing, { onMetricError: "zero" })).toEqual([0]);
    expect(errors).toHaveLength(1);
  },
  'on_metric_error="raise"': async () => {
    const { qa } = answering();
    await asked(qa, 1);
    await expect(qa.score(failing, { onMetricError: "raise" })).rejects.toThrow("no metric");
    expect((await qa.turns()).map(scoreOf)).toEqual([null]);
  },
  'lock="none"': async () => {
    const { calls, qa } = slow({ overlap: "reject" });
    const first = qa.call({ question: "Q1" });
    await expect(qa.call({ question: "Q2" })).rejects.toThrow(/busy/);
    calls.resolve();
    expect([await first, await qa.count()]).toEqual([{ answer: "0" }, 1]);
  },
  'lock="thread"': async () => {
    const { calls, qa } = slow({ overlap: "queue" });
    const both = [qa.call({ question: "Q1" }), qa.call({ question: "Q2" })];
    calls.resolve();
    expect(await Promise.all(both)).toEqual([{ answer: "0" }, { answer: "1" }]);
  },
  'lock="async"': async () => {
    const { calls, qa } = slow();
    const all = Promise.all([qa.call({ question: "Q1" }), qa.call({ question: "Q2" })]);
    calls.resolve();
    // Calls run one after the other, without an option.
    expect(await all).toEqual([{ answer: "0" }, { answer: "1" }]);
  },
};

const failing: Metric<object> = () => {
  throw new Error("no metric");
};

/** Makes a session whose calls wait, and then answer with the number of turns that they saw. */
const slow = (given: { readonly overlap?: "queue" | "reject" } = {}) => {
  const calls = Promise.withResolvers<void>();
  const program = async (_: Question, { memory }: ProgramContext): Promise<Answer> => {
    await calls.promise;
    return { answer: String(memory.exchanges.length) };
  };
  return { calls, qa: closing(session(program, { name: "qa", ...given })) };
};
