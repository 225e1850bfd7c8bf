/** The days of a week, by their numbers in a `Date`. */
export const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** The day that it is for the user: the local date of this machine. */
export const todayOf = ({ now }: { readonly now: () => number }): Date => new Date(now());

/** So many days after today, as a date of its own; at noon, which every day has once. */
export const dayAfter = (today: Date, days: number): Date =>
  new Date(today.getFullYear(), today.getMonth(), today.getDate() + days, 12);

/** "Friday". */
export const weekdayOf = (date: Date): string => weekdays[date.getDay()] ?? "";

/** How many days there are from today to the next day of this name; 0 where it is today. */
export const daysUntil = (today: Date, weekday: (typeof weekdays)[number]): number =>
  (weekdays.indexOf(weekday) - today.getDay() + 7) % 7;

/** "2026-07-24", whatever the time zone. */
export const isoDate = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
