import type { Clock, LlmHandler } from "@colloquy/host";
import {
  type PlainToolResult,
  type PromptView,
  type Rule,
  ruleModel,
  type ScriptLine,
  toolCalls,
  type ToolCallScript,
} from "@colloquy/runtime-test/models";
import { z } from "zod";
import { todayOf } from "./calendar.ts";
import { answerAbout } from "./phrases.ts";
import { type Question, questionIn, wordsOf } from "./question.ts";

/**
 * A model that talks about the weather, and gets all facts from tools. It sees only the prompt, so it knows the city of
 * "What about tomorrow?" only if the prompt still names it. "On Sunday" is the next Sunday from the clock's today on.
 */
export const weatherModel = (clock: Pick<Clock, "now">): LlmHandler =>
  ruleModel(weatherRules(({ messages }) => questionIn(messages, todayOf(clock))));

/** The first rule that applies to a prompt answers it. */
const weatherRules = (question: (prompt: PromptView) => Question): readonly Rule[] => [
  {
    name: "a tool has answered",
    when: ({ last }) => last?.role === "tool",
    answer: (prompt) => phrase(question(prompt), prompt.toolResults),
  },
  {
    name: "a summary, for /compact",
    when: ({ lastUserText }) => lastUserText.startsWith("Earlier summaries:"),
    answer: ({ lastUserText }) => summaryOf(lastUserText),
  },
  {
    name: "thanks",
    when: ({ lastUserText }) => /\b(?:thanks|thank you|cheers)\b/i.test(lastUserText) && !isAboutWeather(lastUserText),
    answer: () => "You're welcome!",
  },
  {
    name: "which cities",
    when: ({ lastUserText }) => /\b(?:which|what) (?:cities|places)\b|\blist\b.*\bcities\b/i.test(lastUserText),
    answer: () => toolCalls([{ name: "list_cities", arguments: {} }]),
  },
  {
    name: "greeting",
    when: ({ lastUserText }) => /^(?:hi|hello|hey|good \w+)\b/i.test(lastUserText) && !isAboutWeather(lastUserText),
    answer: () => "Hello! Which city's weather would you like to know?",
  },
  {
    name: "no city",
    when: (prompt) => question(prompt).cities.length === 0,
    answer: () => "Which city do you mean? Name one, such as Seattle, and I'll look up its weather.",
  },
  {
    name: "too far ahead",
    when: (prompt) => isAboutWeather(prompt.lastUserText) && question(prompt).days.some((day) => day > lastDay),
    answer: () => `I can see only ${lastDay} days ahead. Which day until then would you like to know about?`,
  },
  {
    name: "a day that is over",
    when: (prompt) => isAboutWeather(prompt.lastUserText) && question(prompt).days.some((day) => day < 0),
    answer: () => "I can't look back. Which day from today on would you like to know about?",
  },
  {
    name: "a question about the weather",
    when: ({ lastUserText }) => isAboutWeather(lastUserText),
    answer: (prompt) => lookUp(question(prompt)),
  },
  {
    name: "anything else",
    when: () => true,
    answer: (prompt) =>
      `I only know about the weather. Ask me about it in ${question(prompt).cities.join(" or ")}, or in another city.`,
  },
];

const lastDay = 6;

/** Returns the questions and answers of a request for a summary. */
const summaryOf = (request: string): string =>
  [...request.matchAll(/^Input:\n([^]*?)\nOutput:\n([^]*?)\nTool use:$/gm)]
    .map(([, input = "", output = ""]) => `Asked "${input}", you answered: ${output}`)
    .join("\n");

const isAboutWeather = (text: string): boolean =>
  Object.values(wordsOf(text)).some((words) => words !== undefined) || /^(?:and|what about|how about)\b/i.test(text);

/** Calls a tool for each city, all at once. For three or more days from today on it calls the forecast. */
const lookUp = ({ cities, days }: Question): ScriptLine => {
  const isForecast = days.length > 2 && days.every((day, index) => day === index);
  return toolCalls(
    cities.flatMap((city): readonly ToolCallScript[] =>
      isForecast
        ? [{ name: "get_forecast", arguments: { city, days: days.length } }]
        : days.map((day) => ({ name: "get_weather", arguments: { city, day } })),
    ),
  );
};

const daySchema = z.object({
  city: z.string(),
  country: z.string(),
  day: z.int(),
  weekday: z.string(),
  conditions: z.string(),
  highC: z.number(),
  lowC: z.number(),
  highF: z.number(),
  lowF: z.number(),
  rainChance: z.number(),
  windKmh: z.number(),
});

const weatherSchema = z.union([z.array(daySchema), daySchema.transform((day) => [day])]);

const citiesSchema = z.record(z.string(), z.array(z.string()));

/** Phrases the results of tools. A result that is not weather is an error for the reader, which it passes on. */
const phrase = ({ topic }: Question, results: readonly PlainToolResult[]): string => {
  const answers = results.map((result) => {
    const cities = result.call.name === "list_cities" ? citiesSchema.safeParse(result.value) : null;
    if (cities?.success === true)
      return { said: `I know about ${Object.values(cities.data).flat().sort().join(", ")}.` };
    const weather = weatherSchema.safeParse(result.value);
    return weather.success
      ? { days: weather.data }
      : { said: `I'm sorry: ${result.text || "the tool gave no answer."}` };
  });
  const days = answers.flatMap((answer) => answer.days ?? []);
  const said = answers.flatMap((answer) => answer.said ?? []);
  return [...(days.length === 0 ? [] : [answerAbout(topic, days)]), ...said].join("\n");
};
