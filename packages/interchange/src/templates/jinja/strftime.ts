/** Formats a time in UTC by a format of Python's `strftime`, in English. Unknown codes stay unchanged. */
export const strftime = (at: number, format: string): string => {
  const date = new Date(at);
  const long = (part: "month" | "weekday"): string =>
    new Intl.DateTimeFormat("en-US", { [part]: "long", timeZone: "UTC" }).format(date);
  const [weekday = "", day = "", month = "", year = "", time = ""] = date.toUTCString().replace(",", "").split(" ");
  const [hours = "", minutes = "", seconds = ""] = time.split(":");
  const number = date.toISOString().slice(5, 7);
  const of: Readonly<Record<string, string>> = {
    a: weekday,
    A: long("weekday"),
    b: month,
    B: long("month"),
    d: day,
    H: hours,
    m: number,
    M: minutes,
    S: seconds,
    y: year.slice(-2),
    Y: year,
    "%": "%",
  };
  return format.replaceAll(/%(.)/gu, (code, letter: string) =>
    Object.hasOwn(of, letter) ? (of[letter] ?? code) : code,
  );
};
