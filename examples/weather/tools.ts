import { type Clock, declarationsOf, type Tool, tool } from "@colloquy/host";
import { z } from "zod";
import { todayOf } from "./calendar.ts";
import { cities, type DayWeather, findCity, nearNames, weatherOn } from "./cities.ts";

const city = z.string().min(1).describe("Name of the city, such as Seattle");

const weatherInput = z.object({
  city,
  day: z.int().min(0).max(6).default(0).describe("Days from today: 0 is today, 1 tomorrow"),
});

const forecastInput = z.object({
  city,
  days: z.int().min(1).max(7).default(3).describe("How many days, today included"),
});

/** Returns the names of all cities by country. */
const listCities = (): Readonly<Record<string, readonly string[]>> => {
  const byCountry: Record<string, readonly string[]> = {};
  for (const { name, country } of cities) byCountry[country] = [...(byCountry[country] ?? []), name];
  return byCountry;
};

/** Returns the tools of the weather agent. Their made-up weather repeats each week; the clock tells the current day. */
export const weatherTools = (clock: Pick<Clock, "now">): readonly Tool[] => [
  tool({
    name: "get_weather",
    description: "The made-up weather of one city on one day: conditions, temperatures, chance of rain, wind.",
    input: weatherInput,
    run: ({ city, day }) => {
      const [weather] = daysOf(clock, city, day, day + 1);
      if (weather === undefined) throw new RangeError(`no weather for day ${day}: ask for a day from 0 to 6`);
      return weather;
    },
  }),
  tool({
    name: "get_forecast",
    description: "The made-up weather of one city on each of the next days.",
    input: forecastInput,
    run: ({ city, days }) => daysOf(clock, city, 0, days),
  }),
  tool({
    name: "list_cities",
    description: "The cities that there is weather for, by country.",
    input: z.object({}),
    run: listCities,
  }),
];

/** The declarations of the tools, for a machine and a model. */
export const weatherDeclarations = declarationsOf(weatherTools({ now: () => 0 }));

/** An error for a city without weather data. The message is for the model. */
class UnknownCityError extends Error {
  override readonly name = "UnknownCityError";

  constructor(name: string) {
    const near = nearNames(name);
    super(
      near.length === 0
        ? `There is no weather for "${name}". Call list_cities for the cities that there are.`
        : `There is no weather for "${name}". Did you mean ${near.join(" or ")}?`,
    );
  }
}

const daysOf = (clock: Pick<Clock, "now">, name: string, from: number, to: number): readonly DayWeather[] => {
  const found = findCity(name);
  if (found === undefined) throw new UnknownCityError(name);
  const today = todayOf(clock);
  return Array.from({ length: to - from }, (_, index) => weatherOn(found, today, from + index)).filter(
    (weather) => weather !== undefined,
  );
};
