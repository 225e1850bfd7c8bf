import type { Clock, LlmHandler } from "@colloquy/host";
import { openaiChat } from "@colloquy/runtime-node";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { paced } from "./paced.ts";
import { weatherModel } from "./rules.ts";
import { weatherDeclarations } from "./tools.ts";

/** A model to talk to. */
export interface WeatherModel {
  readonly llm: LlmHandler;
  /** Lines that tell the user which model it is. */
  readonly about: string;
  readonly close: () => Promise<void>;
}

/**
 * Returns the model of OPENAI_API_KEY or OPENAI_BASE_URL. Without them it serves the rule-based model on this machine,
 * so that the client is the same; that model takes `paceMs` milliseconds for each word.
 */
export const chooseModel = async (
  environment: Readonly<Record<string, string | undefined>>,
  paceMs: number,
  clock: Clock,
): Promise<WeatherModel> => {
  const {
    OPENAI_API_KEY: apiKey = "",
    OPENAI_BASE_URL: baseURL = "",
    OPENAI_MODEL: model = "gpt-4o-mini",
  } = environment;
  if (apiKey !== "" || baseURL !== "") {
    if (baseURL !== "" && !URL.canParse(baseURL)) {
      throw new Error(`OPENAI_BASE_URL is "${baseURL}", which is not a URL; give one such as http://127.0.0.1:8080/v1`);
    }
    const connection = { apiKey: apiKey === "" ? "none" : apiKey, ...(baseURL === "" ? {} : { baseURL }) };
    return {
      llm: openaiChat({ ...connection, model, tools: weatherDeclarations }),
      about: `weather agent, talking to ${model} at ${baseURL === "" ? "api.openai.com" : new URL(baseURL).host}`,
      close: () => Promise.resolve(),
    };
  }
  const server = await loopbackServer({ model: paced(weatherModel(clock), paceMs), clock });
  return {
    llm: openaiChat({ apiKey: "none", baseURL: server.url, model: "weather-rules", tools: weatherDeclarations }),
    about:
      `weather agent, talking to its rule-based model at ${server.url}\n` +
      "(for a real model set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own)",
    close: () => server.close(),
  };
};
