import { fc, test } from "@fast-check/vitest";
import { expect } from "vitest";
import { type Exchange, type Memory, scoreOf, session, type Session } from "../src/index.ts";
import { type Fields, type SlowExchange, type SlowHistory, type SlowOptions, SlowSession } from "./slow-session.ts";
import { runs } from "../../../test/runs.ts";

// For any calls, undos, forks, restores and options, a session equals the slow model, and the memory that each turn saw
// stays the same, also after the session is saved and loaded.

type Step =
  | { readonly type: "call"; readonly inputs: Fields; readonly fails: boolean; readonly history: SlowHistory | null }
  | { readonly type: "addTurn"; readonly exchange: SlowExchange }
  | { readonly type: "undo"; readonly calls: number }
  | { readonly type: "checkpoint" | "restore"; readonly name: string }
  | { readonly type: "score"; readonly least: number }
  | { readonly type: "reset" | "fork" | "reload" };

const word = fc.constantFrom("a", "b", "c", "d");
const inputs = fc.record({ question: word, context: word }, { requiredKeys: ["question"] });
const exchange = fc.record({ inputs, outputs: fc.record({ answer: word }) });
const exchanges = fc.array(exchange, { minLength: 1, maxLength: 2 });
const history = fc.record({ exchanges, as: fc.constantFrom("override", "useIfProvided", "replaceSession") });
const call = fc.record({
  type: fc.constant("call"),
  inputs,
  fails: fc.nat(4).map((chance) => chance === 0),
  history: fc.option(history, { freq: 3 }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: call },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("addTurn"), exchange }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("undo"), calls: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom("checkpoint", "restore"), name: fc.constantFrom("x", "y") }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("score"), least: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom("reset", "fork", "reload") }) },
);

const names = fc.subarray(["question", "context", "answer"]);
const options: fc.Arbitrary<SlowOptions> = fc.record(
  { maxTurns: fc.nat(3), maxStoredTurns: fc.nat(4), excludeFields: names, onlyInputFields: names, seed: exchanges },
  { requiredKeys: [] },
);

test.prop([options, fc.array(step, { maxLength: 14 }), fc.option(fc.nat(2)), fc.boolean()], { numRuns: runs(40) })(
  "a session is what a plain slow model of it is",
  async (given, steps, minScore, strict) => {
    const pair = new Pair(given);
    for (const each of steps) {
      await pair.take(each);
      await pair.compare();
    }
    await pair.compareExamples({ ...(minScore === null ? {} : { minScore }), strict });
    await pair.compareLoaded();
    await pair.close();
  },
);

/** A session and its model, side by side. */
class Pair {
  readonly #options: SlowOptions;
  readonly #closing: (() => Promise<void>)[] = [];
  #seen: Memory | null = null;
  #outputs: Fields | null = null;
  #calls = 0;
  #real: Real;
  #slow: SlowSession;

  constructor(given: SlowOptions) {
    this.#options = given;
    this.#slow = new SlowSession(given);
    this.#real = this.#session();
  }

  async take(taken: Step): Promise<void> {
    const [real, slow] = [this.#real, this.#slow];
    switch (taken.type) {
      case "call":
        return this.#call(taken.inputs, taken.fails, taken.history);
      case "addTurn":
        slow.addTurn(taken.exchange);
        return real.addTurn(taken.exchange);
      case "undo":
        expect((await real.undo(taken.calls)).map(({ number }) => number)).toEqual(
          slow.undo(taken.calls).map(({ number }) => number),
        );
        return;
      case "checkpoint":
        slow.checkpoint(taken.name);
        return real.checkpoint(taken.name);
      case "restore":
        if (!slow.checkpoints.includes(taken.name)) return;
        slow.restore(taken.name);
        return real.restore(taken.name);
      case "score":
        expect(await real.score((turn) => scored(turn, taken.least))).toEqual(
          slow.score((turn) => scored(turn, taken.least)),
        );
        return;
      case "reset":
        slow.reset();
        return real.reset();
      case "fork":
        this.#slow = slow.fork();
        this.#real = await real.fork();
        return;
      case "reload":
        if ((await real.thread.state()) !== null) this.#real = await this.#loaded();
        return;
    }
  }

  async compare(): Promise<void> {
    const turns = await this.#real.turns();
    expect(turns.map(({ number, inputs: asked, outputs }) => ({ number, inputs: asked, outputs }))).toEqual(
      this.#slow.turns().map(({ number, inputs: asked, outputs }) => ({ number, inputs: asked, outputs })),
    );
    expect(turns.map(scoreOf)).toEqual(this.#slow.turns().map((turn) => this.#slow.scoreOf(turn)));
    expect(shownIn(await this.#real.memory())).toEqual(this.#slow.memory());
  }

  async compareExamples(wanted: { readonly minScore?: number; readonly strict: boolean }): Promise<void> {
    const examples = await this.#real.examples(wanted);
    const made = examples.map(({ turn, inputs: asked, outputs, score, history: saw }) => {
      return { turn, inputs: asked, outputs, score, shown: saw === undefined ? null : shownIn(saw) };
    });
    expect(made).toEqual(
      this.#slow.examples(wanted).map((turn) => ({
        turn: turn.number,
        inputs: turn.inputs,
        outputs: turn.outputs,
        score: this.#slow.scoreOf(turn),
        shown: turn.shown,
      })),
    );
  }

  /** Checks that saving and loading changes no turn, no example, and no memory that a program saw. */
  async compareLoaded(): Promise<void> {
    if ((await this.#real.thread.state()) === null) return;
    const loaded = await this.#loaded();
    expect(await loaded.turns()).toEqual(await this.#real.turns());
    expect([...(await loaded.examples())]).toEqual(
      (await this.#real.examples()).map((example) => ({ ...example, thread: loaded.thread.id })),
    );
    for (const { number, shown } of this.#slow.turns()) {
      const prompt = await this.#real.promptOfTurn(number);
      expect(await loaded.promptOfTurn(number)).toEqual(prompt);
      if (prompt !== null) expect(shownIn(prompt.memory)).toEqual(shown);
    }
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
  }

  async #call(asked: Fields, fails: boolean, given: SlowHistory | null): Promise<void> {
    this.#calls++;
    this.#seen = null;
    this.#outputs = fails ? null : { answer: `${this.#calls}` };
    const shown = this.#slow.call(asked, this.#outputs, given);
    const failure = new RangeError("down");
    const called = this.#real.call(asked, given === null ? {} : { history: given });
    if (fails) await expect(called).rejects.toEqual(failure);
    else expect(await called).toEqual(this.#outputs);
    expect(this.#seen === null ? null : shownIn(this.#seen)).toEqual(shown);
  }

  async #loaded(): Promise<Real> {
    const saved: unknown = JSON.parse(JSON.stringify(await this.#real.save()));
    return this.#session().load(saved);
  }

  #session(): Real {
    const made = session<Fields, Fields>(
      (_, { memory }) => {
        this.#seen = memory;
        if (this.#outputs === null) throw new RangeError("down");
        return this.#outputs;
      },
      { name: "p", ...this.#options },
    );
    this.#closing.push(() => made.close());
    return made;
  }
}

type Real = Session<Fields, Fields, Fields, Fields>;

const scored = ({ outputs }: { readonly outputs: Fields }, least: number): number =>
  Number(outputs["answer"] ?? 0) > least ? 1 : 0;

const shownIn = ({
  exchanges: shown,
}: {
  readonly exchanges: readonly Pick<Exchange, "inputs" | "outputs">[];
}): readonly unknown[] => shown.map(({ inputs: asked, outputs }) => ({ inputs: asked, outputs }));
