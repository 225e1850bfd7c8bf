import { afterEach, describe, it } from "vitest";
import {
  answerChecks,
  plainChecks,
  reasoningChecks,
  refusalChecks,
  failureChecks,
  noToolChecks,
  plainToolChecks,
  toolChecks,
} from "./answer-checks.ts";
import { modelSubject } from "./call.ts";
import { discretionChecks, redirectChecks, secretReasoningChecks, secretToolChecks } from "./discretion-checks.ts";
import { endingChecks } from "./ending-checks.ts";
import type { MakeModel, ModelCheck, ModelChecks, ModelDialect, ModelFeature, ModelPath } from "./subject.ts";

const listed = (checks: ModelChecks, only: Pick<ModelCheck, "features" | "lack"> = {}): readonly ModelCheck[] =>
  Object.entries(checks).map(([name, check]) => ({ name, check, ...only }));

/** The contract of the port `LlmHandler`, as checks that any handler over HTTP passes. */
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
  /** The API that the handler's server offers. */
  readonly dialect: ModelDialect;
  /** Default: the path in OpenAI's API. */
  readonly path?: ModelPath;
  /**
   * The features that the handler lacks; their checks are skipped. A handler without tools must fail a call that offers
   * some.
   */
  readonly without?: readonly ModelFeature[];
}

/**
 * Registers a vitest suite that checks a handler against the port's contract, with servers on this machine. Each test
 * makes its own handler.
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

/** Returns the checks for a handler that lacks some features. */
export const checksOfModel = (without: readonly ModelFeature[]): readonly ModelCheck[] =>
  modelChecks.filter(
    ({ features = [], lack }) =>
      !features.some((feature) => without.includes(feature)) && (lack === undefined || without.includes(lack)),
  );

/** Far longer than any step takes on a slow and busy machine, and shorter than the time limit of a test. */
const patienceMs = 30_000;
