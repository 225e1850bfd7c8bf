import { describe, expect, it } from "vitest";
import { isoDate, todayOf } from "./calendar.ts";
import { cities, weatherOn } from "./cities.ts";

describe("the bundled weather", () => {
  it("has seven days of sound figures for each of some dozens of cities", () => {
    expect(cities.length).toBeGreaterThanOrEqual(40);
    expect(cities.filter(({ week }) => week.length !== 7)).toEqual([]);
    const unsound = cities
      .flatMap(({ week }) => week)
      .filter(
        ({ highC, lowC, highF, rainChance, windKmh, conditions }) =>
          !(highC > lowC && highF === Math.round(highC * 1.8 + 32) && windKmh >= 0) ||
          !(rainChance >= 0 && rainChance <= 100) ||
          conditions === "",
      );
    expect(unsound).toEqual([]);
  });

  it("belongs to dates, so that tomorrow's weather stays the same when tomorrow has come", () => {
    const [city] = cities;
    const [today, next] = [new Date(2026, 11, 31, 0, 5), new Date(2027, 0, 1, 23, 55)];
    const [tomorrow, later] = [city && weatherOn(city, today, 1), city && weatherOn(city, next, 0)];
    expect(tomorrow).toMatchObject({ day: 1, weekday: "Friday", date: "2027-01-01" });
    expect(later).toEqual({ ...tomorrow, day: 0 });
    expect(isoDate(todayOf({ now: () => today.getTime() }))).toBe("2026-12-31");
  });
});
