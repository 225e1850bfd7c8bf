import type { DayWeather } from "./cities.ts";
import type { Topic } from "./question.ts";

/** The weather of a day without the date, which sentences leave out. */
type Day = Omit<DayWeather, "date">;

/** Answers for each city and day in a sentence or line, and adds which of two cities is warmer. */
export const answerAbout = (topic: Topic, days: readonly Day[]): string => {
  const lines = days.map((day) => sentences[topic](day));
  const difference = differenceOf(days);
  return [...lines, ...(difference === null ? [] : [difference])].join("\n");
};

/** Returns "today", "tomorrow", or a day such as "on Sunday". */
const when = ({ day, weekday }: Day): string => ["today", "tomorrow"][day] ?? `on ${weekday}`;

const sentences: Readonly<Record<Topic, (day: Day) => string>> = {
  weather: (day) =>
    `${day.city} ${when(day)} (${day.weekday}): ${day.conditions}, high ${degrees(day.highC, day.highF)}, low ${degrees(day.lowC, day.lowF)}, ` +
    `${day.rainChance}% chance of rain, wind ${day.windKmh} km/h.`,
  umbrella: (day) =>
    `${umbrella(day.rainChance)} in ${day.city} ${when(day)}: ${day.conditions}, ${day.rainChance}% chance of rain.`,
  snow: (day) =>
    `${day.conditions === "snow" ? "Yes, snow is expected" : "No, no snow is expected"} in ${day.city} ${when(day)}: ` +
    `${day.conditions}, low ${degrees(day.lowC, day.lowF)}.`,
  jacket: (day) =>
    `${jacket(day.highC)} in ${day.city} ${when(day)}: high ${degrees(day.highC, day.highF)}, low ${degrees(day.lowC, day.lowF)}.`,
  wind: (day) => `${wind(day.windKmh)} in ${day.city} ${when(day)}: ${day.windKmh} km/h.`,
  temperature: (day) =>
    `${day.city} ${when(day)}: between ${degrees(day.lowC, day.lowF)} and ${degrees(day.highC, day.highF)}.`,
};

const degrees = (celsius: number, fahrenheit: number): string => `${celsius} °C (${fahrenheit} °F)`;

const umbrella = (rainChance: number): string => {
  if (rainChance >= 50) return "Yes, take an umbrella";
  return rainChance >= 25 ? "You may want an umbrella" : "No, you won't need an umbrella";
};

const jacket = (highC: number): string => {
  if (highC < 5) return "Yes, wear a warm coat";
  if (highC < 16) return "Yes, take a jacket";
  return highC < 21 ? "A light jacket will do" : "No, you won't need a jacket";
};

const wind = (windKmh: number): string => {
  if (windKmh >= 40) return "It will be very windy";
  if (windKmh >= 20) return "It will be windy";
  return windKmh >= 10 ? "There will be a light breeze" : "There will be hardly any wind";
};

/** Says which of two cities is warmer if both are about the same day; else returns null. */
const differenceOf = ([first, second, ...more]: readonly Day[]): string | null => {
  if (first === undefined || second === undefined || more.length > 0) return null;
  if (first.city === second.city || first.day !== second.day) return null;
  const difference = Math.abs(first.highC - second.highC);
  if (difference === 0) return `${first.city} and ${second.city} are equally warm.`;
  const [warmer, colder] = first.highC > second.highC ? [first, second] : [second, first];
  return `${warmer.city} is ${difference} °C warmer than ${colder.city}.`;
};
