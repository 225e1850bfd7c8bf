import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  fromDspySession,
  mergeExamples,
  type Metric,
  predict,
  scoreOf,
  session,
  type ProgramContext,
  type SessionTurn,
} from "@colloquy/sessions";
import * as Either from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import { folderOf } from "./command.ts";
import {
  type Answer,
  answering,
  asked,
  closing,
  inputs,
  outputs,
  type Question,
  questionsIn,
  type Rows,
  saying,
} from "./parts.ts";

const calling: Rows = {
  "session(question=…)": async () => {
    const { qa } = answering();
    expect(await qa.call({ question: "What is DSPy?" })).toEqual({ answer: "A1" });
  },
  "session.forward(…)": async () => {
    const { qa } = answering();
    const call = qa.call({ question: "What is DSPy?" });
    for await (const part of call) if (part.type === "turn.ended") expect(part.status).toBe("completed");
    expect(await call).toEqual({ answer: "A1" });
  },
  "await session.acall(…)": async () => {
    const { qa } = answering();
    const out = await qa.call({ question: "What is DSPy?" });
    expect(out.answer).toBe("A1");
  },
  "await session.aforward(…)": async () => {
    const { qa } = answering();
    await qa.call({ question: "What is DSPy?" });
    expect(await qa.count()).toBe(1);
  },
  "session.turns": async () => {
    const { qa } = answering();
    await asked(qa, 2);
    const turns = await qa.turns();
    expect(turns.map(({ number, inputs: given, outputs: made }) => [number, given.question, made.answer])).toEqual([
      [1, "Q1", "A1"],
      [2, "Q2", "A2"],
    ]);
  },
  "len(session.turns)": async () => {
    const { qa } = answering();
    await asked(qa, 2);
    expect((await qa.turns()).length).toBe(2);
  },
  "len(session)": async () => {
    const { qa } = answering();
    await asked(qa, 2);
    expect(await qa.count()).toBe(2);
  },
  "session.session_history": async () => {
    const { qa } = answering();
    await asked(qa, 2);
    expect((await qa.memory()).exchanges).toMatchObject([
      { turn: 1, inputs: { question: "Q1" }, outputs: { answer: "A1" } },
      { turn: 2, inputs: { question: "Q2" }, outputs: { answer: "A2" } },
    ]);
  },
  history_snapshot: async () => {
    const { qa } = answering();
    await asked(qa, 3);
    await qa.reset();
    const snapshot = (await qa.promptOfTurn(2))?.memory;
    expect(questionsIn(snapshot)).toEqual(["Q1"]);
  },
  "session.reset()": async () => {
    const { qa } = answering({ seed: [{ inputs: { question: "Hi" }, outputs: { answer: "Hello!" } }] });
    await asked(qa, 2);
    await qa.reset();
    expect([await qa.count(), questionsIn(await qa.memory())]).toEqual([0, ["Hi"]]);
  },
  "session.fork()": async () => {
    const { qa } = answering();
    await asked(qa, 1);
    const fork = await qa.fork();
    await fork.call({ question: "What if?" });
    expect([await fork.count(), await qa.count()]).toEqual([2, 1]);
  },
  "session.add_turn(inputs=…, outputs=…)": async () => {
    const { qa, seen } = answering();
    await qa.addTurn({ inputs: { question: "edited question" }, outputs: { answer: "edited answer" } });
    await asked(qa, 1);
    expect(questionsIn(seen[0])).toEqual(["edited question"]);
  },
  "session.pop_turn()": async () => {
    const { qa } = answering();
    await asked(qa, 1);
    expect((await qa.pop())?.inputs.question).toBe("Q1");
    expect(await qa.pop()).toBeNull();
  },
  "session.undo(steps=2)": async () => {
    const { qa } = answering();
    await asked(qa, 3);
    expect((await qa.undo(2)).map(({ number }) => number)).toEqual([3, 2]);
    await qa.redo(2);
    expect(await qa.count()).toBe(3);
  },
  "session.update_module(new_module)": async () => {
    const { qa } = answering();
    await asked(qa, 1);
    const optimised = ({ question }: Question, { memory }: ProgramContext): Answer => ({
      answer: `better ${question} after ${questionsIn(memory).join()}`,
    });
    qa.swap(optimised);
    expect(await qa.call({ question: "Q2" })).toEqual({ answer: "better Q2 after Q1" });
  },
  "session.named_predictors()": async () => {
    const program = predict({ inputs, outputs, name: "gen" });
    const qa = closing(session(program, { name: "qa", llm: saying({ answer: "A" }) }));
    await qa.call({ question: "Q" });
    expect((await qa.trace(1))?.calls.map(({ name, turn }) => [name, turn])).toEqual([["gen", 1]]);
  },
};

const quality: Metric<SessionTurn<Question, Answer>> = ({ outputs: made }) => made.answer.includes("good");

/** Returns a session that gave these answers. */
const answered = async (...answers: readonly string[]) => {
  const left = [...answers];
  const qa = closing(session((_: Question): Answer => ({ answer: left.shift() ?? "" }), { name: "qa" }));
  await asked(qa, answers.length);
  return qa;
};

const numbersOf = (examples: readonly { readonly turn: number }[]) => examples.map(({ turn }) => turn);

const learning: Rows = {
  "session.score(metric, gold=None)": async () => {
    const qa = await answered("Paris", "Rome");
    const gold = { Q1: "Paris", Q2: "Madrid" };
    const metric: Metric<SessionTurn<Question, Answer>, Readonly<Record<string, string>> | undefined> = (turn, right) =>
      turn.outputs.answer === right?.[turn.inputs.question];
    expect(await qa.score(metric, { gold })).toEqual([1, 0]);
    expect((await qa.turns()).map(scoreOf)).toEqual([1, 0]);
  },
  "quality_metric(example, pred, trace=None)": async () => {
    const qa = await answered("good", "bad");
    const metric = (turn: Pick<SessionTurn<Question, Answer>, "outputs">) => turn.outputs.answer.includes("good");
    expect(await qa.score(metric)).toEqual([1, 0]);
  },
  "session.to_examples()": async () => {
    const qa = await answered("good", "bad");
    const examples = await qa.examples();
    expect(examples.map(({ inputs: given, history, outputs: made }) => [given, questionsIn(history), made])).toEqual([
      [{ question: "Q1" }, [], { answer: "good" }],
      [{ question: "Q2" }, ["Q1"], { answer: "bad" }],
    ]);
  },
  "dspy.Example": async () => {
    const qa = await answered("good");
    const [example] = await qa.examples();
    expect(example).toMatchObject({
      inputs: { question: "Q1" },
      outputs: { answer: "good" },
      history: { exchanges: [] },
    });
  },
  "metric=quality_metric": async () => {
    const qa = await answered("good", "bad");
    const metric = quality;
    expect((await qa.examples({ metric })).map(({ score }) => score)).toEqual([1, 0]);
  },
  "min_score=0.5": async () => {
    const qa = await answered("good", "bad", "good");
    const examples = await qa.examples({ metric: quality, minScore: 0.5 });
    expect(numbersOf(examples)).toEqual([1, 3]);
    expect(examples.leftOut).toMatchObject([{ turn: 2, because: "belowScore" }]);
  },
  "strict_trajectory=True": async () => {
    const qa = await answered("good", "bad", "good");
    const examples = await qa.examples({ metric: quality, minScore: 0.5, strict: true });
    expect(numbersOf(examples)).toEqual([1]);
  },
  "include_history=False": async () => {
    const qa = await answered("good", "good");
    const examples = await qa.examples({ includeHistory: false });
    expect(examples.map((example) => "history" in example)).toEqual([false, false]);
  },
  "session.to_trainset(…)": async () => {
    const qa = await answered("good", "bad");
    await qa.score(quality);
    expect(numbersOf(await qa.examples({ minScore: 1 }))).toEqual([1]);
  },
  "Session.merge_examples(*sessions)": async () => {
    const [one, two] = [await answered("good", "bad"), await answered("good")];
    const all = mergeExamples(await one.examples(), await two.examples());
    expect(numbersOf(all)).toEqual([1, 2, 1]);
  },
  "dspy.BootstrapFewShot().compile(session, trainset=trainset)": async () => {
    const llm = saying({ answer: "good" }, { answer: "bad" }, { answer: "better" });
    const qa = closing(session(predict({ inputs, outputs }), { name: "qa", llm }));
    await asked(qa, 2);
    const trainset = await qa.examples({ metric: quality, minScore: 0.5 });
    // You bring the optimiser; this one shows the good examples to the program.
    const instructions = trainset.map((example) => JSON.stringify(example)).join("\n");
    qa.swap(predict({ inputs, outputs, instructions }));
    expect(await qa.call({ question: "Q3" })).toEqual({ answer: "better" });
    const [system] = llm.calls[2]?.messages ?? [];
    expect(JSON.stringify(system)).toMatch(/good(?!.*bad)/);
  },
  'session.save("session.json")': async () => {
    const qa = await answered("good", "bad");
    const file = join(folderOf(), "session.json");
    writeFileSync(file, JSON.stringify(await qa.save()));
    const copy = await qa.load(JSON.parse(readFileSync(file, "utf8")), { threadId: "copy" });
    expect([await copy.count(), questionsIn((await copy.promptOfTurn(2))?.memory)]).toEqual([2, ["Q1"]]);
  },
  "session.save_state()": async () => {
    const qa = await answered("good");
    const saved = await qa.save();
    expect(saved).toMatchObject({ format: "colloquy.session", version: 1 });
  },
  'Session.load_from("session.json", my_module)': async () => {
    const saved = await (await answered("good")).save();
    const { qa: other, seen } = answering();
    const restored = await other.load(saved, { threadId: "restored" });
    await restored.call({ question: "Q2" });
    expect(questionsIn(seen[0])).toEqual(["Q1"]);
    // A file that dspy-session wrote.
    const file = fromDspySession({
      version: 2,
      turns: [{ index: 0, inputs: { question: "Q" }, outputs: { answer: "A" } }],
    });
    if (Either.isLeft(file)) throw new Error(file.left);
    expect(await (await other.load(file.right.saved, { threadId: "theirs" })).count()).toBe(1);
  },
};

/** The rows of calls on a session. */
export const calls: readonly Rows[] = [calling, learning];
