import { join } from "node:path";
import { agentFromFile, agentHost } from "@colloquy/sessions/agents";
import { memoryStore, openaiChat, tool } from "@colloquy/runtime-node";
import { reply, ruleModel, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { predict, type ProgramContext, react, session, type Summariser } from "@colloquy/sessions";
import { expect, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { colloquy, folderOf } from "./command.ts";
import {
  type Answer,
  answering,
  asked,
  closing,
  inputs,
  outputs,
  type QaOptions,
  type Question,
  questionsIn,
  type Rows,
  saying,
} from "./parts.ts";

/** The rows of DSPy's ConversationalAgent. */
export const rows = (): readonly Rows[] => [making, history, summaries, files, streaming];

const search = tool({
  name: "search",
  description: "Search for information.",
  input: z.object({ query: z.string() }),
  run: ({ query }) => `Result for '${query}': ...`,
});

/** Summarises a turn by its question, and answers with the summaries in its prompt. */
const remembering = ruleModel([
  { name: "summary", when: ({ lastUserText }) => lastUserText.includes("Input:"), answer: () => "They asked Q1." },
  {
    name: "answer",
    when: () => true,
    answer: ({ messages }) =>
      JSON.stringify({ answer: /\[Turn 1\].*/.exec(messages.map(({ text }) => text).join("\n"))?.[0] ?? "" }),
  },
]);

const making: Rows = {
  'dspy.configure(lm=dspy.LM("openai/gpt-4o-mini"))': async () => {
    await using server = await loopbackServer({ model: saying({ answer: "Paris" }) });
    vi.stubEnv("OPENAI_BASE_URL", server.url);
    vi.stubEnv("OPENAI_API_KEY", "none");
    onTestFinished(() => void vi.unstubAllEnvs());
    const llm = openaiChat({ model: "gpt-4o-mini" });
    const agent = closing(session(predict({ inputs, outputs }), { name: "agent", llm }));
    expect(await agent.call({ question: "What is the capital of France?" })).toEqual({ answer: "Paris" });
    expect(server.requests[0]?.body).toMatchObject({ model: "gpt-4o-mini" });
  },
  'dspy.ChainOfThought("question -> answer")': async () => {
    const llm = saying({ reasoning: "France is a country.", answer: "Paris" });
    const inner = predict({ inputs, outputs: z.object({ reasoning: z.string(), answer: z.string() }) });
    const agent = closing(session(inner, { name: "agent", llm }));
    expect((await agent.call({ question: "What is the capital of France?" })).answer).toBe("Paris");
    expect(Object.keys(Object(llm.calls[0]?.output?.schema["properties"]))).toEqual(["reasoning", "answer"]);
  },
  "dspy.Predict": async () => {
    const inner = predict({ inputs, outputs });
    const agent = closing(session(inner, { name: "agent", llm: saying({ answer: "Paris" }) }));
    expect((await agent.call({ question: "What is the capital of France?" })).answer).toBe("Paris");
  },
  "def search(query: str) -> str": async () => {
    const search = tool({
      name: "search",
      description: "Search for information.",
      input: z.object({ query: z.string() }),
      run: ({ query }) => `Result for '${query}': ...`,
    });
    const llm = scriptedModel([
      toolCalls([{ name: "search", arguments: { query: "425" } }]),
      reply('{"answer":"It is odd."}'),
    ]);
    const agent = closing(session(react({ inputs, outputs, tools: [search] }), { name: "agent", llm }));
    await agent.call({ question: "Search for 425." });
    expect(JSON.stringify(llm.calls[1]?.messages)).toContain("Result for '425': ...");
  },
  'dspy.ReAct("question -> answer", tools=[search, calculator])': async () => {
    const calculator = tool({
      name: "calculator",
      description: "Evaluate a math expression.",
      input: z.object({ expression: z.string() }),
      run: () => "425",
    });
    const inner = react({ inputs, outputs, tools: [search, calculator] });
    const llm = scriptedModel([
      toolCalls([{ name: "calculator", arguments: { expression: "25 * 17" } }]),
      reply('{"answer":"425"}'),
    ]);
    const agent = closing(session(inner, { name: "agent", llm }));
    expect(await agent.call({ question: "What is 25 * 17?" })).toEqual({ answer: "425" });
    expect(llm.calls[0]?.tools?.map(({ name }) => name)).toEqual(["search", "calculator"]);
  },
  "ConversationalAgent(inner)": async () => {
    const inner = predict({ inputs, outputs });
    const llm = remembering;
    const agent = closing(session(inner, { name: "agent", llm, compression: "concise" }));
    await asked(agent, 1);
    await expect.poll(() => agent.summaries()).toEqual([{ turn: 1, text: "They asked Q1." }]);
    expect(await agent.call({ question: "Q2" })).toEqual({ answer: "[Turn 1] They asked Q1." });
  },
  inner_module: async () => {
    const inner = ({ question }: Question, { memory }: ProgramContext): Answer => ({
      answer: `${question} after ${questionsIn(memory).join()}`,
    });
    const agent = closing(session(inner, { name: "agent" }));
    await asked(agent, 1);
    expect(await agent.call({ question: "Q2" })).toEqual({ answer: "Q2 after Q1" });
  },
  'compression_level="concise"': async () => {
    const { texts } = await summarised({ compression: "concise" });
    expect(texts[0]).toContain("in one to three sentences");
  },
  'compression_level="verbose"': async () => {
    const { texts } = await summarised({ compression: "verbose" });
    expect(texts[0]).toContain("Summarise that turn so fully");
  },
  "max_context_turns=20": async () => {
    const { qa: agent, seen } = answering({ maxTurns: 20 });
    await asked(agent, 22);
    expect(questionsIn(seen[21])).toHaveLength(20);
    expect(questionsIn(seen[21])[0]).toBe("Q2");
    const { qa: none, seen: nothing } = answering({ maxTurns: 0 });
    await asked(none, 2);
    expect(questionsIn(nothing[1])).toEqual([]);
  },
  'agent(question="…")': async () => {
    const { qa: agent } = answering();
    expect(await agent.call({ question: "What is its population?" })).toEqual({ answer: "A1" });
  },
  "r1.answer": async () => {
    const { qa: agent } = answering();
    const r1 = await agent.call({ question: "What is the capital of France?" });
    expect(r1.answer).toBe("A1");
  },
  "agent.forward(**kwargs)": async () => {
    const agent = closing(session({ forward: (given: Question) => ({ answer: given.question }) }, { name: "agent" }));
    expect(await agent.call({ question: "Q" })).toEqual({ answer: "Q" });
  },
  conversation_context: async () => {
    const inner = (_: Question, { memory }: ProgramContext): Answer => ({ answer: memory.text });
    const agent = closing(session(inner, { name: "agent" }));
    expect(await agent.call({ question: "Q1" })).toEqual({ answer: "No prior conversation context." });
    expect((await agent.call({ question: "Q2" })).answer).toMatch(/^\[Turn 1\] Asked: question: Q1 Answered: /);
  },
};

/** Returns a session with summaries `S1`, `S2`, and the instruction and text that each was made from. */
const summarised = async (given: QaOptions, questions = 1) => {
  const texts: string[] = [];
  const summariser: Summariser = ({ text, instruction }) => `S${texts.push(`${instruction}\n---\n${text}`)}`;
  let news = Promise.withResolvers<void>();
  const host = {
    observers: [{ signal: ({ type }: { readonly type: string }) => type === "summary.completed" && news.resolve() }],
  };
  const { qa: agent, seen } = answering({ compression: "concise", summariser, host, ...given });
  for (let number = 1; number <= questions; number++) {
    news = Promise.withResolvers();
    await agent.call({ question: `Q${number}` });
    await news.promise;
  }
  return { agent, seen, texts };
};

const history: Rows = {
  "agent.get_history()": async () => {
    const { agent } = await summarised({}, 2);
    expect(await agent.summaries()).toEqual([
      { turn: 1, text: "S1" },
      { turn: 2, text: "S2" },
    ]);
    expect((await agent.turns()).map(({ inputs: given }) => given.question)).toEqual(["Q1", "Q2"]);
  },
  "for i, summary in enumerate(summaries, 1)": async () => {
    const { agent } = await summarised({ maxTurns: 2 }, 3);
    const lines: string[] = [];
    for (const { turn, text } of await agent.summaries()) lines.push(`Turn ${turn}: ${text}`);
    expect(lines).toEqual(["Turn 2: S2", "Turn 3: S3"]);
  },
  "agent.clear_history()": async () => {
    const { agent } = await summarised({});
    await agent.reset();
    expect([await agent.count(), await agent.summaries()]).toEqual([0, []]);
    await agent.redo();
    expect(await agent.count()).toBe(1);
  },
  'agent.save_checkpoint("after_greeting")': async () => {
    const { qa: agent } = answering();
    await asked(agent, 1);
    await agent.checkpoint("after_greeting");
    expect((await agent.checkpoints()).map(({ name }) => name)).toEqual(["after_greeting"]);
  },
  'agent.restore_checkpoint("after_greeting")': async () => {
    const { qa: agent } = answering();
    await asked(agent, 1);
    await agent.checkpoint("after_greeting");
    await asked(agent, 2);
    await agent.restore("after_greeting");
    expect(await agent.count()).toBe(1);
    await expect(agent.restore("before")).rejects.toThrow(/"before" was not found; there are: after_greeting/);
  },
  "agent._build_context_string()": async () => {
    const { agent } = await summarised({}, 2);
    const context = (await agent.memory()).text;
    expect(context).toBe("[Turn 1] S1\n[Turn 2] S2");
  },
};

const summaries: Rows = {
  "class TurnSummary(dspy.Signature)": async () => {
    const model = scriptedModel([reply("In short.")]);
    const agent = answering({ compression: { instruction: "In one word." }, llm: model }).qa;
    await asked(agent, 1);
    await expect.poll(() => agent.summaries()).toEqual([{ turn: 1, text: "In short." }]);
    expect(model.calls[0]?.messages[0]?.parts).toEqual([{ type: "text", text: "In one word." }]);
  },
  'conversation_context: dspy.InputField(desc="Previous conversation summaries")': async () => {
    const { texts } = await summarised({}, 2);
    expect(texts[1]).toContain("Earlier summaries:\n[Turn 1] S1\n");
  },
  user_input: async () => {
    const { texts } = await summarised({});
    expect(texts[0]).toContain("\nInput:\nquestion: Q1\n");
  },
  assistant_output: async () => {
    const { texts } = await summarised({ describe: (_, { answer }) => `It said ${answer}.` });
    expect(texts[0]).toContain("\nOutput:\nIt said A1.\n");
  },
  tool_usage: async () => {
    const texts: string[] = [];
    const written = Promise.withResolvers<void>();
    const llm = scriptedModel([
      toolCalls([{ name: "search", arguments: { query: "425" } }]),
      reply('{"answer":"It is odd."}'),
    ]);
    const summariser: Summariser = ({ text }) => {
      texts.push(text);
      written.resolve();
      return "S";
    };
    const inner = react({ inputs, outputs, tools: [search] });
    const agent = closing(session(inner, { name: "agent", llm, compression: "verbose", summariser }));
    await agent.call({ question: "Search for 425." });
    await written.promise;
    expect(texts[0]).toContain(`search({"query":"425"}) -> Result for '425': ...`);
  },
  summary: async () => {
    const { qa: agent } = answering({ compression: "concise", summariser: () => "Paris is the capital." });
    await asked(agent, 1);
    await expect.poll(() => agent.summaries()).toEqual([{ turn: 1, text: "Paris is the capital." }]);
  },
};

const searchModule =
  'export const search = { declaration: { name: "search", description: "", parameters: {} }, schema: null, needsApproval: null, run: () => "found" };';

/** Loads the agent of a file with its tool beside it. */
const agentOf = (yaml: string) => {
  const folder = folderOf({ "agent.yaml": yaml, "tools/search_tool.mjs": searchModule });
  return agentFromFile(join(folder, "agent.yaml"), { allowTools: true });
};

const files: Rows = {
  'signature: "question -> answer"': async () => {
    const agent = await agentOf('signature: "question -> answer"\ncompression: none');
    const host = closing(agentHost(agent, { llm: saying({ answer: "Paris" }), store: memoryStore() }));
    expect((await host.run({ question: "What is the capital of France?" })).output).toEqual({ answer: "Paris" });
  },
  'model: "openai/gpt-4o-mini"': async () => {
    const agent = await agentOf("model: gpt-4o-mini\ncompression: none");
    const llm = scriptedModel([reply("Paris")]);
    await closing(agentHost(agent, { llm, store: memoryStore() })).ask("The capital of France?");
    expect(llm.calls[0]?.model).toEqual({ model: "gpt-4o-mini" });
  },
  "tools: - tools/search_tool.py": async () => {
    const agent = await agentOf("tools:\n  - tools/search_tool.mjs\n");
    expect(agent.tools.map(({ declaration }) => declaration.name)).toEqual(["search"]);
  },
  "compression: verbose": async () => {
    const agent = await agentOf("compression: verbose");
    expect(agent.memory.compression).toBe("verbose");
  },
  "max_context_turns: 30": async () => {
    expect((await agentOf("max_context_turns: 30")).memory.maxTurns).toBe(30);
    const agent = await agentOf("max_context_turns: 2\ncompression: none");
    const llm = ruleModel([{ name: "count", when: () => true, answer: ({ messages }) => String(messages.length) }]);
    const host = closing(agentHost(agent, { llm, store: memoryStore() }));
    const texts: string[] = [];
    for (const question of ["Q1", "Q2", "Q3", "Q4"]) texts.push((await host.ask(question)).text);
    expect(texts).toEqual(["1", "3", "5", "5"]);
  },
  'create_agent_from_yaml("agent.yaml")': async () => {
    const folder = folderOf({ "agent.yaml": "instructions: Be brief.\ncompression: none\n" });
    const path = join(folder, "agent.yaml");
    const agent = await agentFromFile(path, { allowTools: true });
    const llm = scriptedModel([reply("Paris")]);
    const store = memoryStore();
    const host = closing(agentHost(agent, { llm, store }));
    expect((await host.ask("The capital of France?")).text).toBe("Paris");
    expect(llm.calls[0]?.messages[0]?.parts).toEqual([{ type: "text", text: "Be brief." }]);
  },
  "python examples/conversational_agent_demo.py --agent examples/agents/demo_agent.yaml": async () => {
    const folder = folderOf({ "demo_agent.yaml": "compression: none\n" });
    const model = ruleModel([{ name: "count", when: () => true, answer: ({ messages }) => `${messages.length}.` }]);
    const lines = ["What is the capital of France?", "What is its population?"];
    const { output } = await colloquy("colloquy chat --agent demo_agent.yaml", { folder, model, lines });
    expect(output).toBe("1.\n3.\n");
  },
  "--debug": async () => {
    const folder = folderOf({ "demo_agent.yaml": "compression: none\ninstructions: Be brief.\n" });
    const model = scriptedModel([reply("Paris")]);
    const lines = ["What is the capital of France?"];
    const { error } = await colloquy("colloquy chat --agent demo_agent.yaml --debug", { folder, model, lines });
    expect(error).toMatch(/prompt of turn 1, step 1: 2 messages[^]*Be brief\.[^]*What is the capital of France\?/);
  },
};

const streaming: Rows = {
  "dspy.streamify(agent)": async () => {
    const { qa: agent } = answering();
    const call = agent.call({ question: "Explain quantum computing" });
    const parts: string[] = [];
    for await (const part of call) parts.push(part.type);
    expect(parts.at(-1)).toBe("turn.ended");
    expect(await call).toEqual({ answer: "A1" });
  },
  "stream_listeners=[…]": async () => {
    const texts: unknown[] = [];
    for await (const part of explaining()) if (part.type === "partial") texts.push(part.outputs["answer"]);
    expect(texts.at(-1)).toBe("It uses qubits.");
  },
  "status_message_provider=status_provider": async () => {
    const inner = (_: Question, { status }: ProgramContext): Answer => {
      status("Looking it up …");
      return { answer: "A" };
    };
    const agent = closing(session(inner, { name: "agent" }));
    const texts: string[] = [];
    for await (const part of agent.call({ question: "Q" })) if (part.type === "status") texts.push(part.text);
    expect(texts).toEqual(["Looking it up …"]);
  },
  "isinstance(chunk, dspy.streaming.StreamResponse)": async () => {
    const seen = new Set<string>();
    for await (const part of explaining())
      if (part.type === "nested" && part.part.type === "text.delta") seen.add(part.name);
    expect([...seen]).toEqual(["predict"]);
  },
  "chunk.chunk": async () => {
    let text = "";
    for await (const { part } of nestedIn(explaining())) if (part.type === "text.delta") text += part.text;
    expect(JSON.parse(text)).toEqual({ answer: "It uses qubits." });
  },
};

/** Starts a call whose answer streams in pieces. */
const explaining = () => {
  const llm = scriptedModel([streams(['{"answer": "It ', "uses ", 'qubits."}'])]);
  const agent = closing(session(predict({ inputs, outputs }), { name: "agent", llm }));
  return agent.call({ question: "Explain quantum computing" });
};

const nestedIn = async function* (call: ReturnType<typeof explaining>) {
  for await (const part of call) if (part.type === "nested") yield part;
};
