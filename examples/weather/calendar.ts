/** The weekdays, by their numbers in a `Date`. */
export const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** Returns the user's date: the local date of this machine. */
export const todayOf = ({ now }: { readonly now: () => number }): Date => new Date(now());

/** Returns the date that is `days` after today, at noon, which every day has exactly once. */
export const dayAfter = (today: Date, days: number): Date =>
  new Date(today.getFullYear(), today.getMonth(), today.getDate() + days, 12);

/** Returns a name such as "Friday". */
export const weekdayOf = (date: Date): string => weekdays[date.getDay()] ?? "";

/** Returns the days from today to the next day of this name; 0 if it is today. */
export const daysUntil = (today: Date, weekday: (typeof weekdays)[number]): number =>
  (weekdays.indexOf(weekday) - today.getDay() + 7) % 7;

/** Returns the local date, such as "2026-07-24". */
export const isoDate = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
