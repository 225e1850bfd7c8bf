import { dayAfter, isoDate, weekdayOf } from "./calendar.ts";

/** The weather of a city on one day. */
export interface DayWeather extends Weather {
  readonly city: string;
  readonly country: string;
  /** 0 is today. */
  readonly day: number;
  readonly weekday: string;
  /** Such as 2026-07-24. */
  readonly date: string;
}

/** Made-up weather. */
export interface Weather {
  readonly conditions: string;
  readonly highC: number;
  readonly lowC: number;
  readonly highF: number;
  readonly lowF: number;
  /** Percent. */
  readonly rainChance: number;
  readonly windKmh: number;
}

export interface City {
  readonly name: string;
  readonly country: string;
  /** The weather of each day of a week, from Friday on. Every week is the same. */
  readonly week: readonly Weather[];
}

/** Returns the weather of a city `day` days after today. */
export const weatherOn = ({ name, country, week }: City, today: Date, day: number): DayWeather | undefined => {
  const date = dayAfter(today, day);
  const weather = week[(date.getDay() - friday + 7) % 7];
  return weather && { city: name, country, day, weekday: weekdayOf(date), date: isoDate(date), ...weather };
};

const friday = 5;

/** Finds a city by name, in any letter case, with or without accents and dots, with "Saint" or "St". */
export const findCity = (name: string): City | undefined => {
  const wanted = plainName(name);
  return cities.find((city) => plainName(city.name) === (otherNames[wanted] ?? wanted));
};

/** Returns up to three similar names, the likeliest first. */
export const nearNames = (name: string): readonly string[] =>
  cities
    .map((city) => ({ name: city.name, distance: editDistance(plainName(city.name), plainName(name)) }))
    .filter(({ distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, 3)
    .map((near) => near.name);

/** Returns the cities that a text names, in its order. */
export const citiesIn = (text: string): readonly string[] => {
  const found = new Map<string, number>();
  let rest = ` ${plainName(text)} `;
  for (const [spelling, name] of spellings) {
    for (let at = rest.indexOf(` ${spelling} `); at >= 0; at = rest.indexOf(` ${spelling} `)) {
      found.set(name, Math.min(at, found.get(name) ?? at));
      // Hides the match, so that "new york" is not found again within "new york city".
      rest = `${rest.slice(0, at + 1)}${"#".repeat(spelling.length)}${rest.slice(at + 1 + spelling.length)}`;
    }
  }
  return [...found].sort((left, right) => left[1] - right[1]).map(([name]) => name);
};

/** Lowers the case, removes accents, dots and possessives, and turns "Saint" into "st". */
const plainName = (text: string): string =>
  text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/['’]s\b/g, "")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .replace(/\bsaint\b/g, "st");

/** Counts the letters to insert, delete or replace. */
const editDistance = (left: string, right: string): number => {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let index = 0; index < left.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < right.length; column++) {
      const replaced = (row[column] ?? 0) + (left[index] === right[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

const otherNames: Readonly<Record<string, string>> = {
  "new york city": "new york",
  nyc: "new york",
  delhi: "new delhi",
  rio: "rio de janeiro",
  "rio de janiero": "rio de janeiro",
};

/** Made-up weather. A city a line: name, country: per day from Friday on: conditions, high/low in °C, rain %, km/h. */
const table = `
Amsterdam, Netherlands: showers 10/5 55% 32, showers 10/6 60% 30, rain 10/5 90% 28, showers 11/7 50% 20, rain 10/5 70% 18, showers 11/7 40% 16, showers 12/6 65% 21
Athens, Greece: sunny 15/9 5% 17, cloudy 14/9 35% 11, cloudy 15/8 25% 11, cloudy 14/7 30% 17, partly cloudy 17/10 10% 6, partly cloudy 17/8 10% 17, cloudy 18/13 25% 11
Auckland, New Zealand: rain 19/11 75% 28, showers 19/13 50% 15, rain 21/12 75% 17, showers 17/10 40% 18, cloudy 18/12 35% 18, rain 18/11 80% 21, showers 21/14 50% 27
Bangkok, Thailand: sunny 33/25 0% 4, partly cloudy 32/24 20% 6, sunny 32/23 0% 2, showers 32/22 40% 10, cloudy 33/24 25% 6, cloudy 33/26 25% 11, partly cloudy 33/24 10% 7
Barcelona, Spain: cloudy 16/10 25% 12, partly cloudy 19/11 20% 7, cloudy 20/11 35% 11, partly cloudy 19/11 15% 19, partly cloudy 15/9 20% 4, showers 13/6 40% 5, showers 15/9 45% 25
Beijing, China: sunny 9/-1 0% 14, sunny 9/-1 0% 12, sunny 6/-4 5% 14, partly cloudy 6/-4 10% 20, sunny 4/-4 0% 19, partly cloudy 5/-4 10% 9, partly cloudy 5/-4 10% 20
Berlin, Germany: cloudy 5/1 35% 19, rain 8/3 75% 14, showers 8/2 45% 19, showers 7/1 50% 12, showers 7/2 40% 13, showers 8/2 50% 15, showers 7/1 65% 17
Bogotá, Colombia: thunderstorms 18/7 95% 6, thunderstorms 18/9 80% 7, showers 19/9 60% 6, thunderstorms 19/9 95% 8, thunderstorms 20/9 90% 9, thunderstorms 20/9 95% 4, thunderstorms 19/10 95% 9
Boston, United States: showers 10/4 40% 25, sunny 10/4 0% 12, showers 6/0 45% 24, partly cloudy 9/2 15% 25, showers 11/4 40% 22, showers 9/2 50% 21, sunny 6/2 5% 21
Buenos Aires, Argentina: partly cloudy 26/16 15% 17, cloudy 28/17 35% 13, cloudy 26/15 35% 13, showers 24/13 50% 18, showers 24/14 50% 16, cloudy 23/13 25% 15, showers 25/16 50% 13
Cairo, Egypt: sunny 25/15 0% 16, sunny 25/16 0% 16, sunny 30/20 5% 14, sunny 29/18 0% 12, sunny 30/18 0% 17, sunny 26/16 0% 15, partly cloudy 28/16 10% 12
Cape Town, South Africa: sunny 25/15 0% 33, cloudy 24/14 25% 43, partly cloudy 23/15 10% 22, cloudy 23/14 30% 28, sunny 21/12 5% 27, partly cloudy 24/14 15% 33, sunny 23/15 5% 28
Chicago, United States: showers 10/2 55% 23, cloudy 9/1 30% 18, showers 11/2 40% 25, partly cloudy 7/-1 10% 26, sunny 9/-1 5% 27, cloudy 8/0 30% 23, cloudy 6/-1 30% 20
Denver, United States: partly cloudy 11/-3 10% 18, cloudy 9/-6 30% 8, partly cloudy 8/-5 15% 5, cloudy 6/-5 35% 14, showers 7/-6 40% 8, partly cloudy 9/-5 20% 9, cloudy 8/-4 25% 12
Dublin, Ireland: showers 11/7 45% 19, rain 11/5 90% 21, rain 12/6 90% 33, rain 9/4 90% 32, showers 8/4 50% 32, rain 8/5 95% 28, sunny 8/4 5% 26
Hong Kong, China: sunny 24/20 0% 16, cloudy 22/17 30% 8, sunny 23/20 5% 16, cloudy 20/17 25% 16, sunny 23/20 0% 23, partly cloudy 20/16 10% 20, cloudy 21/18 30% 12
Istanbul, Türkiye: showers 12/9 45% 15, showers 11/6 65% 8, showers 14/10 40% 13, showers 18/12 40% 14, cloudy 16/10 25% 19, cloudy 14/8 30% 11, partly cloudy 18/11 20% 22
Kyiv, Ukraine: cloudy 8/2 35% 11, rain 11/6 70% 9, cloudy 8/4 35% 19, cloudy 7/0 30% 14, cloudy 8/4 35% 15, rain 5/0 95% 18, snow 2/-2 50% 8
Lagos, Nigeria: cloudy 32/24 25% 11, showers 32/23 50% 16, showers 31/23 50% 7, partly cloudy 32/25 15% 7, partly cloudy 33/24 10% 13, partly cloudy 33/25 20% 5, cloudy 33/25 30% 14
Lima, Peru: sunny 21/17 5% 11, sunny 23/16 0% 7, sunny 24/18 5% 14, sunny 22/16 5% 8, partly cloudy 20/16 10% 6, sunny 19/14 5% 13, sunny 21/15 0% 12
Lisbon, Portugal: showers 17/10 55% 23, showers 14/8 45% 15, showers 18/12 55% 20, partly cloudy 18/11 15% 12, cloudy 15/11 25% 16, showers 16/10 40% 21, partly cloudy 14/9 20% 6
London, United Kingdom: partly cloudy 13/9 15% 14, showers 12/7 50% 19, rain 13/6 75% 20, rain 12/6 95% 25, showers 10/6 55% 18, showers 11/6 55% 14, showers 15/8 45% 13
Los Angeles, United States: partly cloudy 19/9 10% 8, sunny 26/15 5% 8, sunny 23/13 5% 5, sunny 22/11 5% 8, sunny 23/14 0% 9, sunny 23/13 5% 3, sunny 21/10 5% 7
Madrid, Spain: cloudy 15/6 25% 9, partly cloudy 14/4 15% 7, showers 14/5 55% 8, cloudy 13/5 30% 9, cloudy 14/6 30% 5, partly cloudy 15/6 20% 5, cloudy 15/6 35% 13
Melbourne, Australia: partly cloudy 22/10 15% 15, showers 20/9 50% 9, showers 22/11 55% 2, showers 20/9 55% 26, cloudy 20/11 30% 25, cloudy 21/9 35% 9, cloudy 20/10 30% 30
Mexico City, Mexico: cloudy 21/8 30% 9, sunny 22/7 5% 7, partly cloudy 23/11 10% 10, partly cloudy 23/10 15% 9, partly cloudy 23/9 15% 9, cloudy 24/12 25% 7, sunny 25/11 5% 8
Mumbai, India: sunny 33/23 0% 15, partly cloudy 33/23 10% 12, sunny 33/21 0% 15, sunny 32/21 0% 7, sunny 32/21 0% 8, partly cloudy 32/22 15% 10, sunny 33/22 0% 5
Nairobi, Kenya: showers 25/14 40% 12, thunderstorms 25/17 90% 14, showers 25/16 65% 9, showers 27/16 55% 10, showers 25/16 60% 11, thunderstorms 25/14 90% 6, thunderstorms 25/15 95% 13
New Delhi, India: sunny 26/10 0% 6, sunny 29/14 0% 4, sunny 30/13 0% 6, sunny 29/12 0% 5, sunny 30/13 5% 4, sunny 28/12 0% 7, partly cloudy 27/13 15% 3
New York, United States: showers 13/6 40% 18, showers 8/2 50% 18, partly cloudy 8/1 15% 12, partly cloudy 11/2 10% 23, cloudy 11/3 30% 20, showers 12/5 40% 20, showers 13/5 55% 21
Oslo, Norway: partly cloudy 4/-1 10% 8, rain 5/-2 85% 8, showers 4/1 45% 11, snow 2/-3 60% 8, snow 2/-2 55% 15, snow 4/-1 55% 11, snow 2/-2 50% 12
Paris, France: showers 7/3 50% 12, showers 8/4 65% 9, showers 8/3 65% 14, cloudy 7/4 30% 22, partly cloudy 10/5 10% 6, showers 10/6 40% 5, showers 9/4 55% 14
Phoenix, United States: partly cloudy 27/14 10% 5, sunny 24/10 5% 7, partly cloudy 24/12 10% 6, sunny 25/11 0% 7, partly cloudy 24/12 15% 6, sunny 21/7 0% 4, sunny 22/9 5% 3
Portland, United States: rain 8/4 70% 10, showers 10/6 55% 12, rain 12/5 95% 5, rain 13/5 95% 12, rain 11/5 70% 11, showers 9/4 50% 11, rain 10/5 95% 11
Reykjavík, Iceland: cloudy 5/0 35% 48, rain 7/-1 80% 26, rain 5/-1 95% 46, showers 4/-2 40% 29, rain 5/0 95% 40, sunny 4/-1 0% 33, cloudy 6/0 30% 42
Rio de Janeiro, Brazil: showers 27/21 65% 20, thunderstorms 26/20 75% 12, showers 26/20 60% 13, cloudy 26/20 35% 11, thunderstorms 27/22 70% 17, showers 27/19 55% 8, showers 26/20 50% 15
Rome, Italy: showers 20/10 55% 11, cloudy 20/11 30% 8, showers 19/7 40% 11, rain 19/9 80% 11, cloudy 14/5 30% 10, showers 17/8 45% 10, cloudy 17/8 30% 10
San Francisco, United States: partly cloudy 15/10 15% 13, cloudy 16/10 25% 13, cloudy 16/11 30% 20, showers 15/9 65% 11, cloudy 15/10 35% 12, showers 16/11 45% 14, cloudy 17/12 35% 13
Seattle, United States: cloudy 11/6 30% 9, rain 9/5 85% 21, rain 8/4 75% 15, showers 10/5 40% 11, showers 8/4 55% 8, rain 6/3 95% 14, cloudy 6/3 25% 7
Singapore, Singapore: thunderstorms 32/23 95% 3, cloudy 31/24 30% 4, cloudy 32/24 35% 12, thunderstorms 31/24 95% 3, thunderstorms 31/25 95% 10, partly cloudy 31/24 10% 9, thunderstorms 31/25 95% 9
St. Louis, United States: showers 11/3 40% 12, cloudy 14/6 25% 21, showers 12/2 45% 17, partly cloudy 11/1 10% 22, showers 12/3 50% 19, cloudy 11/3 35% 9, showers 9/1 40% 13
Sydney, Australia: partly cloudy 25/16 10% 21, cloudy 24/16 35% 23, cloudy 22/14 35% 11, partly cloudy 20/14 15% 20, cloudy 19/13 30% 18, cloudy 21/13 35% 24, showers 23/14 45% 16
Tokyo, Japan: cloudy 16/8 30% 16, partly cloudy 16/8 20% 8, showers 18/11 40% 14, partly cloudy 20/11 20% 14, cloudy 21/11 30% 9, cloudy 20/11 30% 15, cloudy 19/11 30% 11
Toronto, Canada: showers 7/1 65% 24, showers 7/1 55% 20, showers 5/-1 55% 15, rain 6/0 85% 26, partly cloudy 8/2 10% 19, cloudy 5/-1 25% 32, showers 5/-3 55% 15
Vancouver, Canada: showers 8/4 55% 14, showers 6/2 65% 8, rain 6/3 95% 11, rain 5/1 95% 10, rain 5/1 85% 16, rain 6/3 70% 11, rain 8/3 90% 6
Zürich, Switzerland: showers 10/4 55% 11, rain 9/3 95% 14, partly cloudy 9/3 15% 10, showers 9/5 65% 2, cloudy 8/3 25% 10, showers 6/1 40% 9, partly cloudy 8/2 20% 12
`;

const parseCity = (line: string): City => {
  const [head = "", rest = ""] = line.split(": ");
  const [city = "", country = ""] = head.split(", ");
  return { name: city, country, week: rest.split(", ").map(parseDay) };
};

const parseDay = (text: string): Weather => {
  const [, conditions = "", high, low, rain, wind] = /^([a-z ]+) (-?\d+)\/(-?\d+) (\d+)% (\d+)$/.exec(text) ?? [];
  const highC = Number(high);
  const lowC = Number(low);
  return {
    conditions,
    highC,
    lowC,
    highF: fahrenheit(highC),
    lowF: fahrenheit(lowC),
    rainChance: Number(rain),
    windKmh: Number(wind),
  };
};

const fahrenheit = (celsius: number): number => Math.round((celsius * 9) / 5 + 32);

/** All cities, in the order of their names. */
export const cities: readonly City[] = table.trim().split("\n").map(parseCity);

/** The spellings of the cities, the longest first. */
const spellings: readonly (readonly [string, string])[] = [
  ...cities.map((city) => [plainName(city.name), city.name] as const),
  ...Object.keys(otherNames).map((other) => [other, findCity(other)?.name ?? other] as const),
].sort((left, right) => right[0].length - left[0].length);
