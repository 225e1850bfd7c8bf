import { afterEach, describe, it } from "vitest";
import { answerChecks, plainChecks, reasoningChecks, refusalChecks } from "./answer-checks.ts";
import { modelSubject } from "./call.ts";
import { discretionChecks, redirectChecks, secretReasoningChecks, secretToolChecks } from "./discretion-checks.ts";
import { endingChecks } from "./ending-checks.ts";
import { failureChecks } from "./failure-checks.ts";
import type { MakeModel, ModelCheck, ModelChecks, ModelDialect, ModelFeature, ModelPath } from "./subject.ts";
import { noToolChecks, plainToolChecks, toolChecks } from "./tool-checks.ts";

const listed = (checks: ModelChecks, only: Pick<ModelCheck, "features" | "lack"> = {}): readonly ModelCheck[] =>
  Object.entries(checks).map(([name, check]) => ({ name, check, ...only }));

/** All that the port `LlmHandler` promises, as checks that any handler over HTTP passes. */
export const modelChecks: readonly ModelCheck[] = [
  ...listed(answerChecks),
  ...listed(plainChecks, { features: ["plain"] }),
  ...listed(refusalChecks, { features: ["refusals"] }),
  ...listed(reasoningChecks, { features: ["reasoning"] }),
  ...listed(toolChecks, { features: ["tools"] }),
  ...listed(plainToolChecks, { features: ["plain", "tools"] }),
  ...listed(noToolChecks, { lack: "tools" }),
  ...listed(endingChecks),
  ...listed(failureChecks),
  ...listed(discretionChecks),
  ...listed(secretToolChecks, { features: ["tools"] }),
  ...listed(secretReasoningChecks, { features: ["reasoning"] }),
  ...listed(redirectChecks, { features: ["redirects"] }),
];

export interface ModelContractOptions {
  /** What the handler's server speaks. */
  readonly dialect: ModelDialect;
  /** Default: that of OpenAI's API. */
  readonly path?: ModelPath;
  /** What the handler is without: those checks are skipped. One without tools has to say so when it is offered some. */
  readonly without?: readonly ModelFeature[];
}

/**
 * Registers a vitest suite that holds a handler to the port's promises, over servers on this machine. Each test makes
 * a handler of its own.
 *
 * ```ts
 * modelContract("my model", ({ url, apiKey }) => myModel({ url, apiKey }), { dialect: "chat", without: ["plain"] });
 * ```
 */
export const modelContract = (name: string, makeModel: MakeModel, options: ModelContractOptions): void => {
  const { without = [] } = options;
  describe(`${name} keeps the model contract: a model`, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });
    it.for(checksOfModel(without))("$name", { timeout: 4 * patienceMs }, async ({ check }) => {
      await check(modelSubject(makeModel, { ...options, patienceMs }, (close) => closers.push(close)));
    });
  });
};

/** The checks that a handler has to pass which is without some features. */
export const checksOfModel = (without: readonly ModelFeature[]): readonly ModelCheck[] =>
  modelChecks.filter(
    ({ features = [], lack }) =>
      !features.some((feature) => without.includes(feature)) && (lack === undefined || without.includes(lack)),
  );

/** Far longer than any step takes on a machine that is slow and busy, and shorter than a test may take. */
const patienceMs = 30_000;
