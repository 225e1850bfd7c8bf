import type { PlainMessage } from "@colloquy/runtime-test/models";
import { daysUntil, weekdays } from "./calendar.ts";
import { citiesIn } from "./cities.ts";

/** The question of a user, as far as the conversation tells. */
export interface Question {
  /** The named cities, if any. An unknown name is kept as it was written. */
  readonly cities: readonly string[];
  /** Days from today. */
  readonly days: readonly number[];
  readonly topic: Topic;
}

export type Topic = "weather" | "umbrella" | "snow" | "jacket" | "wind" | "temperature";

/**
 * Returns the last question of a conversation. Earlier messages fill in what it leaves out: "What about tomorrow?" is
 * about the city that an earlier message or tool call named.
 */
export const questionIn = (messages: readonly PlainMessage[], today: Date): Question =>
  messages.reduce<Question>((question, message) => {
    if (message.role === "user") return asked(question, message.text, today);
    return message.toolCalls.length > 0 ? called(question, message) : question;
  }, nothingAsked);

/** The facts that a text alone tells; undefined for the others. */
export interface Words {
  readonly cities: readonly string[] | undefined;
  readonly days: DaysFrom | undefined;
  readonly topic: Topic | undefined;
}

/** Returns the meant days, given today and the last mentioned days. */
type DaysFrom = (today: Date, before: readonly number[]) => readonly number[];

/** Reads a question without the messages before it. */
export const wordsOf = (text: string): Words => {
  const cities = citiesIn(text);
  const place = cities.length > 0 ? undefined : unknownPlaceIn(text);
  return {
    cities: cities.length > 0 ? cities : place === undefined ? undefined : [place],
    days: daysIn(text),
    topic: topics.find(([, pattern]) => pattern.test(text))?.[0],
  };
};

const nothingAsked: Question = { cities: [], days: [0], topic: "weather" };

const asked = (before: Question, text: string, today: Date): Question => {
  const { cities, days, topic } = wordsOf(text);
  // "What's the weather in Oslo?" starts a new topic; "And in Oslo?" continues the present one.
  const anew = cities !== undefined && topic !== undefined;
  const joins = cities?.length === 1 && /\b(?:than|compared?|versus|vs|there or|or there)\b/i.test(text);
  return {
    cities: joins ? [...new Set([...before.cities, ...cities])] : (cities ?? before.cities),
    days: days?.(today, before.days) ?? (anew ? [0] : before.days),
    topic: topic ?? before.topic,
  };
};

const called = (before: Question, { toolCalls }: PlainMessage): Question => {
  const inputs = toolCalls.flatMap(({ input }) =>
    typeof input === "object" && input !== null && "city" in input ? [input] : [],
  );
  const cities = inputs.flatMap(({ city }) => (typeof city === "string" ? [city] : []));
  const days = inputs.flatMap(({ day, days: count }) => {
    if (typeof day === "number") return [day];
    return typeof count === "number" ? next(count) : [];
  });
  return {
    ...before,
    ...(cities.length === 0 ? {} : { cities: [...new Set(cities)] }),
    ...(days.length === 0 ? {} : { days: [...new Set(days)] }),
  };
};

const topics: readonly (readonly [Topic, RegExp])[] = [
  ["umbrella", /\b(?:umbrella|rain|raining|rainy|raincoat|wet|dry)\b/i],
  ["snow", /\b(?:snow|snowing|ski|skiing)\b/i],
  ["jacket", /\b(?:jacket|coat|sweater|scarf|gloves|wear|dress)\b/i],
  ["wind", /\b(?:wind|windy|breezy?|gusts?|kite|sail|sailing)\b/i],
  ["temperature", /\b(?:temperatures?|degrees|hot|hotter|cold|colder|warm|warmer|cool|cooler|freezing)\b/i],
  ["weather", /\b(?:weather|forecast|sunny|sunnier|cloudy|conditions|outside)\b/i],
];

const numbers: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  few: 3,
};

const numberOf = (word: string): number => numbers[word.toLowerCase()] ?? Number(word);

const count = "(\\d+|one|two|three|four|five|six|seven|few)";

/**
 * The ways to name days. Matched words are removed, so that "the day after tomorrow" is not "tomorrow" as well.
 */
const dayPatterns: readonly (readonly [RegExp, (word: string, ...from: Parameters<DaysFrom>) => readonly number[]])[] =
  [
    [/\bday after tomorrow\b/i, () => [2]],
    ...weekdays.map(
      (weekday) =>
        [
          new RegExp(`\\bday after ${weekday}\\b`, "i"),
          (_: string, today: Date) => [daysUntil(today, weekday) + 1],
        ] as const,
    ),
    [/\b(?:day after|(?:next|following) day)\b(?: that)?/i, (_, __, before) => [Math.max(...before) + 1]],
    [/\b(?:day before|previous day)\b(?: that)?/i, (_, __, before) => [Math.min(...before) - 1]],
    [new RegExp(`\\bin ${count} days?\\b`, "i"), (word) => [numberOf(word)]],
    [new RegExp(`\\b(?:next|coming) ${count} days\\b`, "i"), (word) => next(numberOf(word))],
    [new RegExp(`\\b${count}[- ]day\\b`, "i"), (word) => next(numberOf(word))],
    [/\b(?:next|coming) days\b/i, () => next(3)],
    [/\bweekend\b/i, (_, today) => weekendFrom(today)],
    [/\bweek\b/i, () => next(7)],
    [/\b(?:today|tonight|now|currently)\b/i, () => [0]],
    [/\btomorrow\b/i, () => [1]],
    [/\byesterday\b/i, () => [-1]],
    ...weekdays.map(
      (weekday) =>
        [new RegExp(`\\b${weekday}\\b`, "i"), (_: string, today: Date) => [daysUntil(today, weekday)]] as const,
    ),
  ];

/** Returns how many days it is until Saturday and Sunday; on a Sunday, only until Sunday. */
const weekendFrom = (today: Date): readonly number[] => {
  const [saturday, sunday] = [daysUntil(today, "Saturday"), daysUntil(today, "Sunday")];
  return sunday < saturday ? [sunday] : [saturday, sunday];
};

const daysIn = (text: string): DaysFrom | undefined => {
  const named: DaysFrom[] = [];
  let rest = text;
  for (const [pattern, daysOf] of dayPatterns) {
    const match = pattern.exec(rest);
    if (match === null) continue;
    named.push((today, before) => daysOf(match[1] ?? "", today, before));
    rest = rest.replace(pattern, " ");
  }
  if (named.length === 0) return /\bforecast\b/i.test(text) ? () => next(3) : undefined;
  return (today, before) =>
    [...new Set(named.flatMap((days) => days(today, before)))].sort((left, right) => left - right);
};

const next = (days: number): readonly number[] => Array.from({ length: days }, (_, day) => day);

/** Returns an unknown place that a text asks about: "the weather in Atlantis", "What about Atlantis?". */
const unknownPlaceIn = (text: string): string | undefined => {
  const capitalised = /\b(?:[Ii]n|[Ff]or|[Aa]t|[Aa]bout)\s+((?:\p{Lu}[\p{L}.'’-]*\s?)+)/u.exec(text)?.[1];
  const afterWeather = /\b(?:weather|forecast|rain|snow|temperature)\b.*?\b(?:in|for|at)\s+([\p{L}.'’ -]+)/iu.exec(
    text,
  )?.[1];
  const place = (capitalised ?? afterWeather)
    ?.replace(timeWords, " ")
    .replace(/[\s.]+$/, "")
    .trim();
  return place === undefined || place === "" || noPlace.test(place) ? undefined : place;
};

const noPlace =
  /^(?:the|my|a|me|it|this|that|there|here|I|celsius|fahrenheit|january|february|march|april|may|june|july|august|september|october|november|december)\b/i;

const timeWords = new RegExp(
  `\\b(?:today|tonight|tomorrow|now|${weekdays.join("|")}|(?:the |this )?(?:next )?(?:coming )?(?:weekend|week|day after))\\b.*`,
  "i",
);
