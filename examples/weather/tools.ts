import { type Tool, tool } from "@colloquy/host";
import { z } from "zod";
import { cities, type DayWeather, findCity, nearNames } from "./cities.ts";

const city = z.string().min(1).describe("Name of the city, such as Seattle");

const weatherInput = z.object({
  city,
  day: z.int().min(0).max(6).default(0).describe("Days from today: 0 is today, 1 tomorrow"),
});

const forecastInput = z.object({
  city,
  days: z.int().min(1).max(7).default(3).describe("How many days, today included"),
});

/** The weather of one day. Throws when the city is unknown. */
const getWeather = (input: z.output<typeof weatherInput>): DayWeather => {
  const [weather] = daysOf(input.city, input.day, input.day + 1);
  if (weather === undefined) throw new RangeError(`no weather for day ${input.day}: ask for a day from 0 to 6`);
  return weather;
};

/** The weather of the next days. Throws when the city is unknown. */
const getForecast = (input: z.output<typeof forecastInput>): readonly DayWeather[] => daysOf(input.city, 0, input.days);

/** The names of all cities, by country. */
const listCities = (): Readonly<Record<string, readonly string[]>> => {
  const byCountry: Record<string, readonly string[]> = {};
  for (const { name, country } of cities) byCountry[country] = [...(byCountry[country] ?? []), name];
  return byCountry;
};

/** The tools of a weather agent. Their data is bundled, and the same each day. */
export const weatherTools: readonly Tool[] = [
  tool({
    name: "get_weather",
    description: "The weather of one city on one day: conditions, temperatures, chance of rain, wind.",
    input: weatherInput,
    run: getWeather,
  }),
  tool({
    name: "get_forecast",
    description: "The weather of one city on each of the next days.",
    input: forecastInput,
    run: getForecast,
  }),
  tool({
    name: "list_cities",
    description: "The cities that there is weather for, by country.",
    input: z.object({}),
    run: listCities,
  }),
];

/** There is no weather for a city. The message is for the model. */
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

const daysOf = (name: string, from: number, to: number): readonly DayWeather[] => {
  const found = findCity(name);
  if (found === undefined) throw new UnknownCityError(name);
  return found.days.slice(from, to);
};
